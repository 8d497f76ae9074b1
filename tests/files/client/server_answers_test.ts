/**
 * What a file client makes of the answers of a file server, of names that lead elsewhere, and of URLs that it cannot
 * fetch.
 * @module
 */

import { hashHex } from "#lib/crypto/hash.ts";
import { CommandError, RequestTimeoutError, WireError } from "#lib/errors.ts";
import { cacheDestination } from "#lib/files/client/cache_paths.ts";
import { ServerCalls } from "#lib/files/client/server_calls.ts";
import { gzip } from "#lib/values/gzip.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals, assertMatch, assertRejects } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { clientOf, ScriptedFileServer } from "#tests/support/files/scripted_file_server.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { filesBelow } from "#tests/support/tree.ts";

/** The calls of a server that gives always the same answer. */
const answering = (answer: Value) => new ServerCalls(() => Promise.resolve(answer));

Deno.test("a piece that is larger than 64 MiB when it is unpacked is refused", async () => {
  const serve = async (bytes: number) =>
    await answering(map({ data: await gzip(new Uint8Array(bytes)), dest: "f", gzip: 1 }))
      .serve("f", { saltenv: "base", loc: 0 });
  const largest = 64 * 2 ** 20;
  assertEquals((await serve(largest)).data.length, largest);
  await assertRejects(() => serve(largest + 1), RangeError, `more than ${largest} bytes`);
});

Deno.test("a digest that the server does not give is none, one of another kind is an error; a piece may be text", async () => {
  const hash = (answer: Value) => answering(answer).hash("f", "base");
  for (const none of ["", null, map({}), map({ hash_type: "md5" })]) assertEquals(await hash(none), undefined);
  assertEquals(await hash(map({ hsum: "00" })), { hashType: "sha256", hsum: "00" });
  for (const wrong of [map({ hsum: 5 }), map({ hsum: "00", hash_type: 5 })]) {
    await assertRejects(() => hash(wrong), WireError, "_file_hash");
  }
  await assertRejects(() => answering(["a"]).symlinks("base", ""), WireError, "_symlink_list");
  assertEquals(await answering(map({ a: "b" })).symlinks("base", ""), new Map([["a", "b"]]));
  const { data } = await answering(map({ data: "ä", dest: "f" })).serve("f", { saltenv: "base", loc: 0 });
  assertEquals(data, new TextEncoder().encode("ä"));
});

Deno.test("a file that is wrong each time is fetched three times; an answer that cannot be read is asked for again", () =>
  withTemporaryDirectory(async (root) => {
    const server = new ScriptedFileServer({ base: { f: "abc" } });
    const client = clientOf(root, server);
    server.before = (request) =>
      request.startsWith("_file_hash") ? map({ hash_type: "sha256", hsum: "00" }) : undefined;
    await assertRejects(() => client.cacheFile("salt://f", "base"), CommandError, "digest 3 times");
    assertEquals(server.requests().filter((request) => request === "_serve_file f 0").length, 3);
    let unread = 1;
    server.before = (request) => request === "_serve_file f 0" && unread-- > 0 ? 5 : undefined;
    assertEquals(Deno.readTextFileSync(await client.cacheFile("salt://f", "base") ?? ""), "abc");
    assertEquals(server.requests().filter((request) => request === "_serve_file f 0").length, 2);
  }));

Deno.test("a lost piece is requested again after a second", () =>
  withTemporaryDirectory(async (root) => {
    const server = new ScriptedFileServer({ base: { f: "abc" } });
    let lost = false;
    server.before = () => {
      if (lost || !server.requestLog.at(-1)?.startsWith("_serve_file")) return;
      lost = true;
      throw new RequestTimeoutError("tcp://master", 5);
    };
    using time = new SkippedTime();
    let copy: string | undefined;
    const done = clientOf(root, server, { pauseMs: undefined }).cacheFile("salt://f", "base").then((path) =>
      copy = path
    );
    await eventually(() => lost, { what: "the request that is lost" });
    assertEquals(copy, undefined);
    await time.to(60_000);
    await eventually(() => copy, { what: "the copy", withinMs: 20_000 });
    await done;
  }));

Deno.test("a name with a NUL, or that leads out of the cache, names no copy; a long name of a URL is its digest", () =>
  withTemporaryDirectory((root) => {
    const client = clientOf(root, new ScriptedFileServer({ base: {} }));
    const place = { cachedir: `${root}/cache`, saltenv: "base" };
    for (const url of ["salt://a\0b", "salt://../../x", "salt://", "http://h/a\0b", "http://h/../../../x"]) {
      assertEquals(cacheDestination(url, place), "Invalid path", JSON.stringify(url));
    }
    // A file of that name is there; a copy it is not.
    Deno.mkdirSync(`${root}/cache/files/base`, { recursive: true });
    Deno.writeTextFileSync(`${root}/cache/x`, "no copy");
    for (const url of ["salt://../../x", "salt://a\0b"]) assertEquals(client.cachedFile(url, "base"), undefined);
    const directory = `${root}/cache/extrn_files/base/h`;
    const name = `/${"n".repeat(254)}`;
    assertEquals(cacheDestination(`http://h${name}`, place), `${directory}${name}`);
    assertEquals(cacheDestination(`http://h${name}n`, place), `${directory}/${hashHex(`${name}n`, "sha256")}`);
  }));

Deno.test("a URL is a file of this host, of the server or of a web server, and others are refused in words that name them", () =>
  withTemporaryDirectory(async (root) => {
    const client = clientOf(root, new ScriptedFileServer({ base: { f: "abc" } }));
    assertEquals(await client.cacheFile(`file://${root}/own`, "base"), `${root}/own`);
    assertEquals(await client.cacheFile(`${root}/own/`, "base"), `${root}/own`);
    for (const path of ["own", "file:own", "c:\\own"]) {
      await assertRejects(
        () => client.cacheFile(path, "base"),
        CommandError,
        `Path '${path.replace("file:", "")}' is not`,
      );
    }
    await assertRejects(() => client.cacheFile("s3://h/f", "base"), CommandError, "s3:// is not supported here");
    for (const call of [client.cacheDir("http://h/d", "base"), client.getFile(`${root}/own`, "", "base")]) {
      await assertRejects(() => call, CommandError, "Unsupported path: ");
    }
    // Into the cache no directory has to be there; elsewhere it does.
    assertEquals(await client.getFile("salt://f", "", "base"), `${root}/cache/files/base/f`);
    assertEquals(await client.getFile("salt://f", `${root}/no/f`, "base"), undefined);
    assertEquals([await client.exists("salt://f", "base"), await client.exists("salt://none", "base")], [true, false]);
    assertEquals((await client.statFile("salt://f", "base")).mode, 0o100640);
    Deno.writeTextFileSync(`${root}/own`, "own");
    Deno.chmodSync(`${root}/own`, 0o640);
    assertEquals(await client.statFile(`${root}/own`, "base"), {
      hash: { hashType: "sha256", hsum: hashHex("own", "sha256") },
      mode: 0o100640,
    });
  }));

Deno.test("of the server's names only those below the directory are cached, the empty directories, too", () =>
  withTemporaryDirectory(async (root) => {
    const client = clientOf(root, new ScriptedFileServer({ base: { "other/a": "1", " ": "2", "otherwise": "3" } }));
    const copies = await client.cacheDir("salt://other", "base", { includeEmpty: true });
    assertEquals(copies, [`${root}/cache/files/base/other/a`]);
    assertEquals([...filesBelow(`${root}/cache/files`)], copies);
  }));

Deno.test("a copy of a web server's file is fetched again unless its digest, of a length that there is, is right", () =>
  withTemporaryDirectory(async (root) => {
    let sent = 0;
    await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
      const { pathname } = new URL(request.url);
      return pathname === "/same" ? new Response(null, { status: 304 }) : new Response(`text ${++sent}`);
    });
    const client = clientOf(root, new ScriptedFileServer({}));
    const url = `http://127.0.0.1:${server.addr.port}`;
    for (const sourceHash of ["", "0".repeat(64), "0".repeat(63), "md5=00"]) {
      const before = sent;
      await client.cacheFile(`${url}/f`, "base", { sourceHash });
      assertEquals(sent, before + 1, sourceHash);
    }
    const error = await assertRejects(() => client.cacheFile(`${url}/same`, "base"), CommandError);
    assertMatch(error.message, /HTTP 304: .* reading \/same/, "a file that nobody asked to compare");
    // The certificate of a web server without TLS is not asked for, and that of an https server always checked.
    assertEquals(typeof await client.cacheFile(`${url}/f`, "base", { verifySsl: false }), "string");
    await assertRejects(
      () => client.cacheFile("https://127.0.0.1:1/f", "base"),
      CommandError,
      "Error reading https://",
    );
  }));
