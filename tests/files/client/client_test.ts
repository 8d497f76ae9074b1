import { assertEquals, assertMatch, assertRejects } from "#tests/support/assert.ts";
import { openFileClient } from "#lib/files/client/client.ts";
import { CommandError, RequestTimeoutError } from "#lib/errors.ts";
import { ScriptedFileServer } from "#tests/support/files/scripted_file_server.ts";
import { filesBelow } from "#tests/support/tree.ts";

/** A client of a file server in memory, and the directories that it uses. */
async function scene(files: Record<string, Record<string, string>>) {
  const root = await Deno.makeTempDir({ prefix: "file_client_" });
  const server = new ScriptedFileServer(files);
  const logged: string[] = [];
  const open = () =>
    openFileClient({
      cachedir: `${root}/cache`,
      hashType: "sha256",
      id: "web1",
      request: server.request,
      signal: new AbortController().signal,
      pauseMs: 1,
      log: (level, message) => logged.push(`${level} ${message}`),
    });
  return {
    root,
    server,
    logged,
    open,
    client: open(),
    read: (path: string) => Deno.readTextFileSync(path.startsWith("/") ? path : `${root}/${path}`),
    tree: () => [...filesBelow(root)].map((path) => path.slice(root.length + 1)).sort(),
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

const mode = (path: string) => (Deno.statSync(path).mode ?? 0) & 0o7777;

Deno.test("a file is fetched in chunks into files/<env>, readable only for its user; an unchanged file takes one request", async () => {
  await using s = await scene({ base: { "web/a.conf": "0123456789" } });
  const copy = await s.client.cacheFile("salt://web/a.conf", "base");
  assertEquals(copy, `${s.root}/cache/files/base/web/a.conf`);
  assertEquals([s.read(copy ?? ""), mode(copy ?? ""), mode(`${s.root}/cache/files`)], ["0123456789", 0o600, 0o700]);
  const pieces = ["0", "4", "8", "10"].map((loc) => `_serve_file web/a.conf ${loc}`);
  assertEquals(s.server.requests(), ["_file_hash web/a.conf", ...pieces]);
  assertEquals(await s.client.cacheFile("salt://web/a.conf", "base"), copy);
  assertEquals(s.server.requests(), ["_file_hash web/a.conf"]);
  s.server.files.base["web/a.conf"] = "changed";
  await s.client.cacheFile("salt://web/a.conf?saltenv=base", "other");
  assertEquals([s.read(copy ?? ""), s.tree()], ["changed", ["cache/files/base/web/a.conf"]]);
});

Deno.test("an empty file, a compressed file, a file name with a leading |, and a missing file", async () => {
  await using s = await scene({ base: { empty: "", big: "x".repeat(100), "a?b": "odd" } });
  assertEquals(s.read(await s.client.cacheFile("salt://empty", "base") ?? ""), "");
  assertEquals(await s.client.getFile("salt://big", `${s.root}/big`, "base", { gzip: 5 }), `${s.root}/big`);
  assertEquals(s.read("big"), "x".repeat(100));
  assertEquals(await s.client.cacheFile("salt://|a?b", "base"), `${s.root}/cache/files/base/a?b`);
  assertEquals(await s.client.cacheFile("salt://nothing", "base"), undefined);
  assertEquals(await s.client.cacheFile("salt://big", "nothing"), undefined);
});

Deno.test("an interrupted transfer continues where it stopped, also in another client, and its partial file is not visible", async () => {
  await using s = await scene({ base: { f: "0123456789abcdef" } });
  let dead = true;
  s.server.before = (request) => {
    if (dead && request === "_serve_file f 8") throw new RequestTimeoutError("tcp://master", 5);
  };
  const error = await assertRejects(() => s.client.cacheFile("salt://f", "base"), CommandError);
  assertMatch(error.message, /interrupted at byte 8 of salt:\/\/f \(saltenv 'base'\), and continues there next time/);
  assertEquals(s.server.requests().filter((request) => request === "_serve_file f 8").length, 4);
  assertEquals(s.tree().map((path) => path.replace(/[0-9a-f]{64}/, "ID")), ["cache/transfers/ID.part"]);
  dead = false;
  const copy = await s.open().cacheFile("salt://f", "base");
  assertEquals(s.server.requests(), ["_file_hash f", "_serve_file f 8", "_serve_file f 12", "_serve_file f 16"]);
  assertEquals([s.read(copy ?? ""), s.tree()], ["0123456789abcdef", ["cache/files/base/f"]]);
});

Deno.test("a lost master is awaited once, for the time of one request, not for each retry of a chunk", async () => {
  await using s = await scene({ base: { f: "0123456789abcdef" } });
  s.server.before = (request) => {
    if (request === "_serve_file f 8") throw new RequestTimeoutError("tcp://master", 180_000);
  };
  const error = await assertRejects(() => s.client.cacheFile("salt://f", "base"), CommandError);
  assertMatch(error.message, /interrupted at byte 8 of salt:\/\/f .*No reply from tcp:\/\/master in 180000 ms/);
  assertEquals(s.server.requests().filter((request) => request === "_serve_file f 8").length, 1);
});

Deno.test("the rest of an interrupted transfer is not used for a file that has changed since", async () => {
  await using s = await scene({ base: { f: "0123456789" } });
  s.server.before = (request) => {
    if (request === "_serve_file f 8") throw new RequestTimeoutError("tcp://master", 5);
  };
  await assertRejects(() => s.client.cacheFile("salt://f", "base"), CommandError);
  s.server.before = () => {};
  s.server.files.base.f = "ABCDEFGHIJ";
  assertEquals(s.read(await s.client.cacheFile("salt://f", "base") ?? ""), "ABCDEFGHIJ");
});

Deno.test("a lost chunk is requested again", async () => {
  await using s = await scene({ base: { f: "01234567" } });
  let times = 0;
  s.server.before = (request) => {
    if (request === "_serve_file f 4" && ++times < 3) throw new RequestTimeoutError("tcp://master", 5);
  };
  assertEquals(s.read(await s.client.cacheFile("salt://f", "base") ?? ""), "01234567");
  assertEquals([times, s.logged.filter((line) => line.includes("asks again for byte 4")).length], [3, 2]);
});

Deno.test("a file that changes during a transfer is fetched again, and the old copy is kept until then", async () => {
  await using s = await scene({ base: { f: "old" } });
  const copy = await s.client.cacheFile("salt://f", "base") ?? "";
  s.server.files.base.f = "first version";
  const seen = new Set<string>();
  s.server.before = (request) => {
    seen.add(s.read(copy));
    if (request === "_serve_file f 8") s.server.files.base.f = "second version!";
  };
  assertEquals(await s.client.cacheFile("salt://f", "base"), copy);
  assertEquals([s.read(copy), [...seen]], ["second version!", ["old"]]);
  assertMatch(s.logged.join("\n"), /warning The file f changed while it was sent, attempt 1 of 3/);
});

Deno.test("a file that never matches the server's digest is an error, and the old copy is kept", async () => {
  await using s = await scene({ base: { f: "old" } });
  const copy = await s.client.cacheFile("salt://f", "base") ?? "";
  s.server.files.base.f = "new";
  s.server.before = (request) => {
    if (request.startsWith("_serve_file f")) s.server.files.base.f = `new ${s.server.requestLog.length}`;
  };
  await assertRejects(() => s.client.cacheFile("salt://f", "base"), CommandError, "salt://f of saltenv 'base'");
  assertEquals([s.read(copy), s.tree()], ["old", ["cache/files/base/f"]]);
});

Deno.test("a file that is deleted during a transfer counts as missing", async () => {
  await using s = await scene({ base: { f: "01234567" } });
  s.server.before = (request) => {
    if (request === "_serve_file f 4") delete s.server.files.base.f;
  };
  assertEquals([await s.client.cacheFile("salt://f", "base"), s.tree()], [undefined, []]);
});

Deno.test("two clients that fetch the same file at the same time both get it", async () => {
  await using s = await scene({ base: { f: "0123456789".repeat(50) } });
  const copies = await Promise.all([1, 2, 3].map(() => s.open().cacheFile("salt://f", "base")));
  assertEquals(copies.map((copy) => s.read(copy ?? "").length), [500, 500, 500]);
  assertEquals(s.tree(), ["cache/files/base/f"]);
});

Deno.test("a file in the cache can become a directory, and the other way round", async () => {
  await using s = await scene({ base: { "a": "file" } });
  await s.client.cacheFile("salt://a", "base");
  s.server.files.base = { "a/b/c": "below" };
  assertEquals(s.read(await s.client.cacheFile("salt://a/b/c", "base") ?? ""), "below");
  s.server.files.base = { "a": "file again" };
  assertEquals(s.read(await s.client.cacheFile("salt://a", "base") ?? ""), "file again");
});

Deno.test("a file is placed on the host: with the mode of the replaced file, through a link, into a directory", async () => {
  await using s = await scene({ base: { "d/f": "text" } });
  const at = (name: string) => `${s.root}/${name}`;
  Deno.writeTextFileSync(at("old"), "x");
  Deno.chmodSync(at("old"), 0o4751);
  Deno.symlinkSync("old", at("link"));
  Deno.mkdirSync(at("dir"));
  const get = (dest: string, makedirs = false) => s.client.getFile("salt://d/f", dest, "base", { makedirs });
  assertEquals(await get(at("link")), at("link"));
  assertEquals([s.read("old"), mode(at("old")), Deno.lstatSync(at("link")).isSymlink], ["text", 0o4751, true]);
  assertEquals([await get(at("dir")), s.read("dir/f")], [at("dir/f"), "text"]);
  assertEquals(mode(at("dir/f")), 0o666 & ~Deno.umask());
  assertEquals(await get(at("no/where/f")), undefined);
  assertEquals([await get(at("no/where/f"), true), s.read("no/where/f")], [at("no/where/f"), "text"]);
  s.server.requests();
  await get(at("dir/"));
  assertEquals(s.server.requests(), ["_file_hash d/f"]);
});

Deno.test("a directory is cached and copied with its empty directories, without paths that only begin with its name", async () => {
  await using s = await scene({ base: { "sub/a": "1", "sub/b.x": "2", "subway": "3", "other/sub/a": "4" } });
  const cached = (await s.client.cacheDir("salt://sub", "base", { includeEmpty: true })).map((path) =>
    path.slice(s.root.length)
  );
  assertEquals(cached, ["a", "b.x", "empty"].map((name) => `/cache/files/base/sub/${name}`));
  const chosen = await s.client.cacheDir("salt://sub/", "base", { includePat: "E@\\.x$", excludePat: "nothing*" });
  assertEquals(chosen, [`${s.root}/cache/files/base/sub/b.x`]);
  const copied = await s.client.getDir("salt://sub/", `${s.root}/to`, "base");
  assertEquals(copied.map((path) => path.slice(s.root.length)), ["/to/sub/a", "/to/sub/b.x", "/to/sub/empty"]);
  assertEquals(s.read("to/sub/b.x"), "2");
});

Deno.test("a server cannot make the client write outside of its cache", async () => {
  await using s = await scene({ base: {}, "../../out": { f: "x" } });
  s.server.before = (request) => request === "_file_list" ? ["sub/../../../../evil", "sub/ok"] : undefined;
  s.server.files.base = { "sub/../../../../evil": "evil", "sub/ok": "fine" };
  await assertRejects(() => s.client.cacheDir("salt://sub", "base"), CommandError, "Invalid path");
  await assertRejects(() => s.client.cacheFile("salt://f", "../../out"), CommandError, "Invalid path");
  assertEquals(s.tree(), []);
});

Deno.test("a state is found as a file, or else as init.sls of a directory; the names of states are listed", async () => {
  await using s = await scene({ base: { "web/init.sls": "1", "web/conf.sls": "2", "top.sls": "3", "web/x.txt": "4" } });
  const source = async (sls: string) => (await s.client.getState(sls, "base"))?.source;
  assertEquals([await source("web"), await source("web.conf"), await source("nope")], [
    "salt://web/init.sls",
    "salt://web/conf.sls",
    undefined,
  ]);
  assertEquals(await s.client.listStates("base"), ["top", "web", "web.conf"]);
});
