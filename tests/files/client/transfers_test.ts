/**
 * Files that are placed where others are, left pieces of transfers, servers that answer wrongly, and files that are
 * pushed.
 * @module
 */

import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { CommandError, WireError } from "#lib/errors.ts";
import { fileDigest } from "#lib/files/client/file_digest.ts";
import { cacheLocalFile } from "#lib/files/client/local_cache.ts";
import { openLocalServer } from "#lib/files/client/local_server.ts";
import { PartialFile } from "#lib/files/client/partial_file.ts";
import { inDirectory, makeCacheDirectory, placeInCache, placeOnHost } from "#lib/files/client/placing.ts";
import { pushDirectory, pushFile } from "#lib/files/client/pushing.ts";
import { ServerCalls } from "#lib/files/client/server_calls.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { makeRepository } from "#tests/support/files/file_server.ts";
import { clientOf, ScriptedFileServer } from "#tests/support/files/scripted_file_server.ts";
import { filesBelow } from "#tests/support/tree.ts";
import { BACKENDS } from "#modules/fileserver/_built_in.ts";

/** A directory of the test's own. */
function scratch(): { readonly root: string } & Disposable {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "transfers_" }));
  return { root, [Symbol.dispose]: () => Deno.removeSync(root, { recursive: true }) };
}

const modeOf = (path: string) => (Deno.statSync(path).mode ?? 0) & 0o7777;

const namesBelow = (root: string) => [...filesBelow(root)].map((path) => path.slice(root.length + 1)).sort();

Deno.test("a directory of the cache is made where a file is, but not where the system allows none", () => {
  using s = scratch();
  Deno.writeTextFileSync(`${s.root}/a`, "file");
  makeCacheDirectory(`${s.root}/a/b/c`);
  assertEquals(Deno.statSync(`${s.root}/a/b/c`).isDirectory, true);
  assertThrows(() => makeCacheDirectory("/proc/none/of/ours"), Error);
  let times = 0;
  assertThrows(
    () =>
      inDirectory(s.root, () => {
        times++;
        throw new Error("no place");
      }),
    Error,
    "no place",
  );
  assertEquals(times, 1, "the directory is there: a second try would fail, too");
});

Deno.test("a file is written into a pipe, and put on another file system with its mode", async () => {
  using s = scratch();
  const [from, pipe] = [`${s.root}/from`, `${s.root}/pipe`];
  await new Deno.Command("mkfifo", { args: [pipe] }).output();
  const reader = new Deno.Command("cat", { args: [pipe], stdout: "piped" }).spawn();
  Deno.writeTextFileSync(from, "text");
  placeOnHost(from, pipe);
  assertEquals(new TextDecoder().decode((await reader.output()).stdout), "text");
  assertEquals([lexistsOrThrow(from), Deno.lstatSync(pipe).isFifo], [false, true]);

  // Memory is another file system than that of temporary files, or this test shows nothing.
  const other = Deno.makeTempDirSync({ dir: "/dev/shm" });
  try {
    assertEquals(Deno.statSync(other).dev === Deno.statSync(s.root).dev, false);
    Deno.writeTextFileSync(from, "other");
    placeOnHost(from, `${other}/to`, { mode: 0o640 });
    const { mode } = Deno.statSync(`${other}/to`);
    assertEquals([Deno.readTextFileSync(`${other}/to`), (mode ?? 0) & 0o7777, lexistsOrThrow(from)], [
      "other",
      0o640,
      false,
    ]);
    Deno.writeTextFileSync(from, "more");
    assertThrows(() => placeOnHost(from, "/proc/to"), Error);
    assertEquals(lexistsOrThrow(from), true);
    assertEquals(namesBelow(other), ["to"]);
  } finally {
    Deno.removeSync(other, { recursive: true });
  }
});

Deno.test({
  name: "a file that takes the place of another user's keeps that owner and mode (as root)",
  ignore: Deno.uid() !== 0,
  fn() {
    using s = scratch();
    const [from, to] = [`${s.root}/from`, `${s.root}/to`];
    Deno.writeTextFileSync(from, "new");
    Deno.writeTextFileSync(to, "old", { mode: 0o600 });
    Deno.chownSync(to, 1234, 4321);
    placeOnHost(from, to, { mode: 0o644 });
    const { uid, gid, mode } = Deno.statSync(to);
    assertEquals([uid, gid, (mode ?? 0) & 0o7777, Deno.readTextFileSync(to)], [1234, 4321, 0o600, "new"]);
  },
});

Deno.test("a file of this host that cannot be put into the cache leaves no piece there", async () => {
  using s = scratch();
  const path = `${s.root}/own`;
  Deno.writeTextFileSync(path, "text");
  const place = { cachedir: `${s.root}/cache`, saltenv: "base" };
  const copy = await cacheLocalFile(path, place);
  assertEquals([Deno.readTextFileSync(copy), await cacheLocalFile(`${s.root}/none`, place)], ["text", ""]);
  Deno.removeSync(copy);
  Deno.mkdirSync(`${copy}/in the way`, { recursive: true });
  await assertRejects(() => cacheLocalFile(path, place), Error);
  assertEquals(namesBelow(`${s.root}/cache`), []);
});

Deno.test("a digest that there is not is an error, for files of any size", async () => {
  using s = scratch();
  for (const [name, bytes] of [["small", 5], ["middle", 1 << 17], ["large", (1 << 20) + 1]] as const) {
    Deno.writeFileSync(`${s.root}/${name}`, new Uint8Array(bytes));
    await assertRejects(
      () => fileDigest(`${s.root}/${name}`, "nope"),
      CommandError,
      "cannot be verified by nope digests",
    );
    assertEquals((await fileDigest(`${s.root}/${name}`, "sha256")).hsum.length, 64);
  }
});

Deno.test("pieces that no transfer continued for a day are removed, younger ones and other files stay", async () => {
  using s = scratch();
  const transfers = `${s.root}/cache/transfers`;
  Deno.mkdirSync(`${transfers}/directory.part`, { recursive: true });
  const dayAgo = Date.now() / 1000 - 86_400 - 60;
  for (const [name, at] of [["old.part", dayAgo], ["young.part", dayAgo + 3_600], ["old.txt", dayAgo]] as const) {
    Deno.writeTextFileSync(`${transfers}/${name}`, "piece");
    Deno.utimeSync(`${transfers}/${name}`, at, at);
  }
  Deno.utimeSync(`${transfers}/directory.part`, dayAgo, dayAgo);
  await clientOf(s.root, new ScriptedFileServer({ base: { f: "text" } })).cacheFile("salt://f", "base");
  assertEquals([...Deno.readDirSync(transfers)].map(({ name }) => name).sort(), [
    "directory.part",
    "old.txt",
    "young.part",
  ]);
});

Deno.test("files that are being fetched, and their directory, are only their user's, whatever the umask; so are the copies", async () => {
  using s = scratch();
  const wanted = { path: "f", saltenv: "base", hash: { hashType: "sha256", hsum: "00" } };
  const umask = Deno.umask(0);
  try {
    // The second job cannot share the first one's file, and gets its own.
    using first = await PartialFile.open(`${s.root}/cache`, wanted);
    using second = await PartialFile.open(`${s.root}/cache`, wanted);
    assertEquals(first.path === second.path, false);
    assertEquals([first.path, second.path, `${s.root}/cache/transfers`].map(modeOf), [0o600, 0o600, 0o700]);
    // A copy of the cache is, too, though the file that is moved there was for all to read.
    Deno.writeTextFileSync(`${s.root}/from`, "text", { mode: 0o666 });
    placeInCache(`${s.root}/from`, `${s.root}/cache/files/base/f`);
    assertEquals([`${s.root}/cache/files/base/f`, `${s.root}/cache/files`].map(modeOf), [0o600, 0o700]);
    Deno.writeTextFileSync(`${s.root}/own`, "text", { mode: 0o666 });
    assertEquals(
      modeOf(await cacheLocalFile(`${s.root}/own`, { cachedir: `${s.root}/cache`, saltenv: "base" })),
      0o600,
    );
  } finally {
    Deno.umask(umask);
  }
});

Deno.test("a copy of the cache is found without a request", async () => {
  using s = scratch();
  const server = new ScriptedFileServer({ base: { f: "text" } });
  const client = clientOf(s.root, server);
  assertEquals(client.cachedFile("salt://f", "base"), undefined);
  const copy = await client.cacheFile("salt://f", "base");
  server.requests();
  assertEquals([client.cachedFile("salt://f", "base"), server.requests()], [copy, []]);
});

Deno.test("answers of a server that are of another kind are refused; a name that is no UTF-8 is read as far as it goes", async () => {
  const answering = (answer: Value) => new ServerCalls(() => Promise.resolve(answer));
  for (const answer of [5, map({ data: 5, dest: "f" }), map({ data: "", dest: 5 })]) {
    const piece = () => answering(answer).serve("f", { saltenv: "base", loc: 0 });
    await assertRejects(piece, WireError, "The file server answered _serve_file with");
  }
  await assertRejects(() => answering("x").masterOpts(), WireError, "_master_opts");
  const names = (answer: Value) => answering(answer).list("files", "base", "");
  assertEquals(await names(["a", new Uint8Array([0x62, 0xff])]), ["a", "b\ufffd"]);
  await assertRejects(() => names([5]), WireError, "A name of the file server is no text but int");
  await assertRejects(() => names("a"), WireError);
});

Deno.test("a file is pushed in pieces, an empty one too; a directory with the files that a glob means", async () => {
  using s = scratch();
  Deno.mkdirSync(`${s.root}/d/sub`, { recursive: true });
  for (const [name, text] of [["a.txt", "12345678"], ["empty", ""], ["sub/b.txt", "123"]]) {
    Deno.writeTextFileSync(`${s.root}/d/${name}`, text);
  }
  const pushed: string[] = [], logged: string[] = [];
  let takes = true;
  const host = {
    id: "web1",
    pieceBytes: 4,
    request: (load: ValueMap): Promise<Value> => {
      const data = load.get("data");
      const text = data instanceof Uint8Array ? new TextDecoder().decode(data) : "?";
      const path = load.get("path");
      pushed.push(`${Array.isArray(path) ? path.join("/") : "?"} ${load.get("loc")} of ${load.get("size")}: ${text}`);
      return Promise.resolve(takes);
    },
    log: (level: string, line: string) => void (level === "error" && logged.push(line)),
  };
  const name = `${s.root}/d`.slice(1);
  const sent = () => pushed.splice(0).map((line) => line.replace(name, "D"));
  assertEquals(await pushFile(`${s.root}/d/a.txt`, {}, host), true);
  assertEquals(sent(), ["D/a.txt 0 of 8: 1234", "D/a.txt 4 of 8: 5678"]);
  assertEquals(await pushFile(`${s.root}/d/empty`, { uploadPath: "/up/e", removeSource: true }, host), true);
  assertEquals([sent(), lexistsOrThrow(`${s.root}/d/empty`)], [["up/e 0 of 0: "], false]);
  assertEquals(await pushDirectory(`${s.root}/d`, { glob: "*.txt" }, host), true);
  assertEquals(sent().sort(), ["D/a.txt 0 of 8: 1234", "D/a.txt 4 of 8: 5678", "D/sub/b.txt 0 of 3: 123"]);
  assertEquals(await pushDirectory(`${s.root}/d/`, { uploadPath: "/up/" }, host), true);
  assertEquals(sent().map((line) => line.split(" ")[0]).sort(), ["up/a.txt", "up/a.txt", "up/sub/b.txt"]);
  assertEquals(await pushDirectory(`${s.root}/d/a.txt`, { uploadPath: "/up/one" }, host), true);
  assertEquals(sent().map((line) => line.split(" ")[0]), ["up/one", "up/one"]);
  assertEquals(await pushDirectory(`${s.root}/d`, { glob: "*.none" }, host), false);
  const refused = [
    ["relative", "Path 'relative' is not absolute"],
    [`${s.root}/../x`, "has ../"],
    [`${s.root}/nope.txt`, "nope.txt: there is no such file"],
    [`${s.root}/d`, "/d is not a file"],
  ];
  for (const [path, why] of refused) {
    await assertRejects(() => pushFile(path, {}, host), CommandError, why);
    if (!path.endsWith("/d")) await assertRejects(() => pushDirectory(path, {}, host), CommandError, why);
  }
  for (const uploadPath of ["../x", "/up/../../x", "../"]) {
    await assertRejects(
      () => pushFile(`${s.root}/d/a.txt`, { uploadPath }, host),
      CommandError,
      `not pushed: ${uploadPath}`,
    );
  }
  assertEquals(sent(), []);
  takes = false;
  assertEquals(await pushDirectory(`${s.root}/d`, {}, host), false);
  assertStringIncludes(logged.join(), "cp.push Failed transfer failed");
});

Deno.test("without a master the host's own file server gives its options, and fetches git's repositories first", async () => {
  using s = scratch();
  await makeRepository(`${s.root}/repo`);
  const opts = testOpts({
    root_dir: s.root,
    file_client: "local",
    fileserver_backend: ["gitfs"],
    gitfs_remotes: [`file://${s.root}/repo`],
    state_top: "mine.sls",
  });
  const logged: string[] = [];
  const request = await openLocalServer(opts, {
    backends: BACKENDS,
    log: (level, message) => void logged.push(`${level} ${message}`),
    signal: new AbortController().signal,
  });
  const own = await request(map({ cmd: "_master_opts" }));
  assertEquals(isMap(own) && own.get("state_top"), "mine.sls");
  const files = await request(map({ cmd: "_file_list", saltenv: "base" }));
  assertEquals(Array.isArray(files) && files.length > 0, true, logged.join("\n"));
  assertEquals(await request(map({ cmd: "_nothing" })), new Map());
});
