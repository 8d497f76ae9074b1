import { FileServer } from "#lib/files/server/file_server.ts";
import { updateBackends } from "#lib/files/server/upkeep.ts";
import type { RunnerContext } from "#lib/client/runner_context.ts";
import type { EventData } from "#lib/bus/event.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { invoke } from "#lib/plugins/call.ts";
import { sleep } from "#lib/os/sleep.ts";
import { loadFamily } from "#lib/plugins/loader.ts";
import { isMap, map, repr, type Value, type ValueMap } from "#lib/values/value.ts";
import { RUNNERS } from "#modules/runners/_built_in.ts";
import { open as openGitfs } from "#modules/fileserver/gitfs.ts";
import { open as openMinionfs } from "#modules/fileserver/minionfs.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import {
  git,
  makeFileServer,
  makeRepository,
  SALT_FILES,
  type TestFileServer,
} from "#tests/support/files/file_server.ts";
import { withRunnerFixture } from "#tests/support/fleet/runner_services.ts";
import { fromTyped } from "#tests/support/typed_values.ts";
import { BACKENDS } from "#modules/fileserver/_built_in.ts";

/** Calls a runner of the master of `server`. */
async function call(server: TestFileServer, name: string, args: readonly Value[], kwargs: ValueMap): Promise<Value> {
  let result: Value = null;
  await withRunnerFixture(async ({ context }) => {
    const own: RunnerContext = {
      ...context,
      opts: server.services.opts,
      log: (level, message) => server.services.log[level](message),
      fire: async (tag, data) => (await server.services.fire(tag, toMap(data)), true),
    };
    const fun = await loadFamily<RunnerContext>(RUNNERS).get(name);
    assert(fun !== undefined, name);
    result = await invoke(fun, { name, args: [...args], kwargs, context: own });
  });
  return result;
}

/** An event's data as a receiver decodes them. */
function toMap(data: EventData): ValueMap {
  const read = decode(encode(data, "disk"), "disk");
  assert(isMap(read));
  return read;
}

Deno.test("the fileserver runner returns what Salt's does", async () => {
  using server = await makeFileServer();
  // Salt's file server had made lists before; the same lists are cached here when they are cleared.
  for (const [fun, args, kwargs, result] of SALT_FILES.worlds[0].runs) {
    const got = await call(server, `fileserver.${fun}`, args, map(kwargs));
    assertEquals(repr(got), repr(fromTyped(result)), `${fun} ${repr(args)} ${repr(map(kwargs))}`);
  }
});

Deno.test("a backend may be left out, for one call", async () => {
  using server = await makeFileServer(map({ fileserver_backend: ["roots", "minion"], file_recv: true }));
  const list = async (backend: string) => await call(server, "fileserver.file_list", [], map({ backend }));
  const both = await list("roots,minion");
  assert(Array.isArray(both) && both.includes("m1/etc/fstab") && both.includes("f.txt"));
  assertEquals(await list("-roots"), ["m1/a/b.txt", "m1/etc/fstab", "m1/top.sls", "m2/x.bak", "m2/y"]);
  assertEquals(await list("-roots,-minionfs"), []);
  assertEquals(await list(""), both);
});

Deno.test("an update reports changed, added and removed files, if fileserver_events is on", async () => {
  using server = await makeFileServer(map({ fileserver_events: true }));
  const { root, services } = server;
  const events = () => services.fired.splice(0).map(({ tag, data }) => [tag, data.get("changed"), data.get("files")]);
  await call(server, "fileserver.update", [], new Map());
  const [[tag, changed, files]] = events();
  assertEquals([tag, changed], ["salt/fileserver/roots/update", true]);
  assert(isMap(files as Value));
  Deno.writeTextFileSync(`${root}/salt/new.txt`, "new");
  Deno.removeSync(`${root}/salt/zero`);
  Deno.utimeSync(`${root}/salt/f.txt`, 5, 5.5);
  await call(server, "fileserver.update", [], new Map());
  assertEquals(events(), [[
    "salt/fileserver/roots/update",
    true,
    map({
      changed: [`${root}/salt/f.txt`, `${root}/salt/link`, `${root}/salt/sub/up`],
      removed: [`${root}/salt/zero`],
      added: [`${root}/salt/new.txt`],
    }),
  ]]);
  await call(server, "fileserver.update", [], new Map());
  assertEquals(events(), [["salt/fileserver/roots/update", false, map({ changed: [], removed: [], added: [] })]]);
});

Deno.test("git remotes are fetched, locked and cleared; one that cannot be reached stops no other", async () => {
  using server = await makeFileServer(map({
    fileserver_backend: ["gitfs"],
    fileserver_events: true,
    gitfs_remotes: ["file:///nowhere/at/all", "file://{root}/repo"],
  }));
  const { root, services } = server;
  const changed = async (kwargs: Record<string, unknown> = {}) => {
    await call(server, "fileserver.update", [], map(kwargs));
    return services.fired.splice(0).map(({ data }) => data.get("changed"));
  };
  const files = async () => await call(server, "fileserver.file_list", [], map({ saltenv: "dev" }));
  assertEquals(await files(), ["d.txt", "f.txt"]);
  assert(
    services.logged.some((line) =>
      line.startsWith("ERROR: The gitfs remote 'file:///nowhere/at/all' cannot be updated")
    ),
  );
  assertEquals(await changed(), [false]);
  const commit =
    `commit refs/heads/dev\ncommitter T <t@example.com> 1700000001 +0000\ndata 1\nm\nM 100644 inline n.txt\ndata 1\nn\n`;
  await git(["-C", `${root}/repo`, "fast-import", "--quiet", "--force"], commit);

  const locked = await call(server, "fileserver.lock", [], map({ remote: "*repo" }));
  assert(isMap(locked) && Array.isArray(locked.get("locked")), repr(locked));
  assertEquals(await call(server, "fileserver.lock", [], map({ remote: "*repo" })), "No locks were set");
  assertEquals([await changed(), await files()], [[false], ["d.txt", "f.txt"]]);
  assert(services.logged.some((line) => line.includes("Update lock file is present for gitfs remote")));
  const freed = await call(server, "cache.clear_git_lock", ["gitfs"], new Map());
  assert(isMap(freed) && Array.isArray(freed.get("cleared")), repr(freed));
  assertEquals(await call(server, "fileserver.clear_lock", [], new Map()), "No locks were removed");

  assertEquals(await changed({ remotes: "file:///nowhere/at/all" }), [false]);
  assertEquals(await changed(), [true]);
  assertEquals(await files(), ["n.txt"]);
  const cleared = map({ cleared: ["The gitfs fileserver cache was successfully cleared"] });
  assertEquals(repr(await call(server, "fileserver.clear_cache", [], new Map())), repr(cleared));
  assertEquals([await files(), await call(server, "fileserver.envs", [], new Map())], [[], []]);
});

Deno.test("a running update ends when the master ends", async () => {
  // A server that accepts the connection and sends nothing.
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  using server = await makeFileServer();
  const { services } = server;
  const remote = `http://127.0.0.1:${silent.addr.port}/repo`;
  const opts = {
    ...services.opts,
    fileserver_backend: ["gitfs"],
    gitfs_remotes: [remote, `file://${server.root}/repo`],
  };
  const ending = new AbortController();
  const files = new FileServer(opts, { backends: BACKENDS, log: () => {} });
  await makeRepository(`${server.root}/repo`);
  const updating = updateBackends(files, { changes: false, signal: ending.signal }, {
    log: () => {},
    fire: () => Promise.resolve(),
  });
  using _taken = await silent.accept();
  // The other remote is still served.
  for (let i = 0; i < 500 && (await files.envs()).length === 0; i++) {
    await sleep(20);
  }
  assert((await files.envs()).includes("dev"));
  ending.abort();
  await updating;
});

Deno.test("gitfs removes the repositories of remotes that are gone, reads no digest of a file that is gone, and says what it cannot delete", async () => {
  using server = await makeFileServer(map({ fileserver_backend: ["gitfs"], gitfs_remotes: ["file://{root}/repo"] }));
  const { opts } = server.services;
  const gitfs = openGitfs(opts, { log: () => {} });
  const cache = `${opts.cachedir}/gitfs`;
  Deno.mkdirSync(`${cache}/of another remote/refs`, { recursive: true });
  const { signal } = new AbortController();
  assertEquals((await gitfs.update([], { changes: true, signal }))?.get("changed"), true);
  assertEquals([...Deno.readDirSync(cache)].some(({ name }) => name === "of another remote"), false);
  await gitfs.reap?.();

  const file = await gitfs.find({ path: "f.txt", saltenv: "base", query: new Map() });
  assert(file !== undefined);
  Deno.removeSync(file.path);
  assertEquals(await gitfs.hash(file, "base"), undefined);
  Deno.mkdirSync(file.path);
  await assertRejects(() => Promise.resolve(gitfs.hash(file, "base")), Error);

  Deno.removeSync(cache, { recursive: true });
  // The name of a file that is no directory: nothing can be below it.
  Deno.writeTextFileSync(cache, "");
  const blocked = openGitfs({ ...opts, cachedir: `${cache}/x` }, { log: () => {} });
  const errors = await blocked.clearCache?.() ?? [];
  assertEquals(errors.map((line) => line.split(": ")[0]), [
    `Unable to delete ${cache}/x/gitfs`,
    `Unable to delete ${cache}/x/file_lists/gitfs`,
  ]);
});

Deno.test("minionfs forgets the digests of files that minions do not have any more", async () => {
  using server = await makeFileServer(map({ fileserver_backend: ["minionfs"], file_recv: true }));
  const { opts } = server.services;
  const minionfs = openMinionfs(opts, { log: () => {} });
  assert(minionfs !== undefined);
  assertEquals(minionfs.intervals?.(), [{}]);
  const file = await minionfs.find({ path: "m1/a/b.txt", saltenv: "base", query: new Map() });
  assert(file !== undefined);
  assertEquals(typeof await minionfs.hash(file, "base"), "string");
  // The digests that are kept of large files.
  const kept = `${opts.cachedir}/minionfs/hash/base/m1`;
  Deno.mkdirSync(`${kept}/a`, { recursive: true });
  for (const name of ["a/b.txt", "a/gone"]) Deno.writeTextFileSync(`${kept}/${name}.hash.sha256`, "0:0");
  await minionfs.reap?.();
  assertEquals([...Deno.readDirSync(`${kept}/a`)].map(({ name }) => name), ["b.txt.hash.sha256"]);
});

Deno.test("a list of files that cannot be removed is named", async () => {
  using server = await makeFileServer();
  const lists = `${server.services.opts.cachedir}/file_lists/roots`;
  Deno.mkdirSync(`${lists}/base.p/in the way`, { recursive: true });
  const error = await assertRejects(() => call(server, "fileserver.clear_file_list_cache", [], new Map()), Error);
  assertEquals(error.message.startsWith(`Cannot remove ${lists}/base.p: `), true, error.message);
});
