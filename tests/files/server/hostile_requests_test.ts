import { minionCommand } from "#lib/master/requests/minion_commands.ts";
import { checkBackends } from "#lib/config/backend_names.ts";
import { PreflightError } from "#lib/errors.ts";
import { FileServer } from "#lib/files/server/file_server.ts";
import { clearFileLists, reapBackends, updateBackends } from "#lib/files/server/upkeep.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { eventually } from "#tests/support/eventually.ts";
import { isMap, map, repr, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { makeFileServer, type TestFileServer } from "#tests/support/files/file_server.ts";
import { BACKENDS } from "#modules/fileserver/_built_in.ts";

const NONE = { _file_find: map({ path: "", rel: "" }), _file_hash: "", _serve_file: map({ data: "", dest: "" }) };
const LISTS = ["_file_list", "_dir_list", "_file_list_emptydirs", "_symlink_list"];

async function ask({ services }: TestFileServer, load: Record<string, unknown>): Promise<Value> {
  return (await minionCommand(map({ id: "m1", ...load }), "m1", services)).value;
}

/** Asserts that every request for the file returns nothing. */
async function assertNone(
  server: TestFileServer,
  load: { readonly path: string; readonly saltenv: unknown },
): Promise<void> {
  for (const [cmd, none] of Object.entries(NONE)) {
    const answer = await ask(server, { cmd, loc: 0, ...load });
    assertEquals(repr(answer), repr(none), `${cmd} ${load.path} ${repr(load.saltenv as Value)}`);
  }
}

const OUTSIDE = [
  ...[
    "../outside/o.txt",
    "sub/../../outside/o.txt",
    "..",
    "../",
    "./..",
    "sub/..",
    "..//outside/o.txt",
    "/outside/o.txt",
    "//o.txt",
  ],
  ...[
    "f.txt\0",
    "\0",
    "f.txt\0.png",
    "%2e%2e/outside/o.txt",
    "..\\outside\\o.txt",
    "salt://../outside/o.txt",
    "|../outside/o.txt",
    "|/etc/passwd",
  ],
  ...[
    "../outside/o.txt?saltenv=dev",
    "o.txt?saltenv=../outside",
    "o.txt?saltenv=outside",
    "~/f.txt",
    "$HOME",
    "x".repeat(300),
    "x/".repeat(3_000),
  ],
];

Deno.test("no path leads out of the roots, in any environment and by any backend", async () => {
  using server = await makeFileServer(map({
    file_roots: { base: ["{root}/salt"], dev: ["{root}/dev"], __env__: ["{root}/shared/__env__"] },
    fileserver_backend: ["roots", "minionfs", "gitfs"],
    file_recv: true,
    gitfs_remotes: ["file://{root}/repo"],
    gitfs_fallback: "dev",
  }));
  for (const path of OUTSIDE) {
    for (const saltenv of ["base", "dev", "qa", "etc/passwd"]) await assertNone(server, { path, saltenv });
  }
});

Deno.test("a path is no valid environment", async () => {
  using server = await makeFileServer(map({ file_roots: { __env__: ["{root}/shared/__env__", "{root}/__env__"] } }));
  assertEquals(repr(await ask(server, { cmd: "_file_find", path: "s.txt", saltenv: "qa" })).includes("s.txt"), true);
  for (
    const saltenv of [
      "..",
      ".",
      "",
      "/",
      "../outside",
      "qa/../../outside",
      "qa/..",
      "./qa",
      "qa/",
      "//",
      "a\0b",
      "x".repeat(300),
    ]
  ) {
    for (const path of ["o.txt", "s.txt", "secret.txt", "outside/o.txt", "salt/f.txt"]) {
      await assertNone(server, { path, saltenv });
    }
    for (const cmd of LISTS) {
      const listed = await ask(server, { cmd, saltenv });
      assertEquals(isMap(listed) ? listed.size : Array.isArray(listed) && listed.length, 0, `${cmd} ${saltenv}`);
    }
  }
  // An unknown environment creates nothing on disk.
  for (let i = 0; i < 100; i++) await ask(server, { cmd: "_file_list", saltenv: `invented${i}` });
  const kept = [...Deno.readDirSync(server.services.opts.cachedir)].map(({ name }) => name);
  assertEquals(kept.filter((name) => name === "file_lists"), []);
});

Deno.test("with fileserver_followsymlinks off, no link leads out of a root", async () => {
  using server = await makeFileServer(map({ fileserver_followsymlinks: false }));
  for (const path of ["out", "outdir/o.txt", "out?index=0", "outdir/o.txt?index=0"]) {
    await assertNone(server, { path, saltenv: "base" });
  }
  // A link within the root is served.
  assertEquals(
    repr(await ask(server, { cmd: "_serve_file", path: "sub/up", saltenv: "base", loc: 0 })).includes("hello"),
    true,
  );
});

Deno.test("an offset beyond the end of the file returns nothing", async () => {
  using server = await makeFileServer();
  for (const loc of [3_000, 2 ** 31, 2 ** 40, 2n ** 53n, 2n ** 62n]) {
    const answer = await ask(server, { cmd: "_serve_file", path: "big.bin", saltenv: "base", loc });
    assertEquals(repr(answer), repr(map({ data: "", dest: "big.bin" })), String(loc));
  }
  for (const loc of [-1, -(2n ** 70n), 2n ** 63n, 2n ** 100n, NaN, Infinity]) {
    assertEquals(await ask(server, { cmd: "_serve_file", path: "big.bin", saltenv: "base", loc }), "", String(loc));
  }
});

Deno.test("a thousand concurrent requests are all answered, and the thread stays responsive", async () => {
  using server = await makeFileServer();
  let parked = 0;
  const services = { ...server.services, park: () => void parked++ };
  const load = (i: number) =>
    map({ id: "m1", cmd: i % 2 === 0 ? "_serve_file" : "_file_hash", path: "big.bin", saltenv: "base", loc: 1_024 });
  let answered = 0;
  const all = Array.from({ length: 1_000 }, async (_, i) => {
    const { value } = await minionCommand(load(i), "m1", services);
    answered++;
    return repr(value).length;
  });
  // Every request has been queued before a file was read.
  assertEquals([parked, answered], [1_000, 0]);
  const lengths = await Promise.all(all);
  assertEquals(new Set(lengths).size, 2);
});

Deno.test("only files are read: no directories, pipes, dangling or circular links", async () => {
  using server = await makeFileServer();
  const base = `${server.root}/salt`;
  const { success } = await new Deno.Command("mkfifo", { args: [`${base}/pipe`] }).output();
  assert(success);
  Deno.symlinkSync("circle", `${base}/circle`);
  Deno.symlinkSync(".", `${base}/self`);
  Deno.symlinkSync("..", `${base}/sub/above`);
  for (const path of ["pipe", "circle", "broken", "sub", "empty"]) await assertNone(server, { path, saltenv: "base" });
  const files = await ask(server, { cmd: "_file_list", saltenv: "base" });
  assert(Array.isArray(files));
  assertEquals(["pipe", "circle", "broken"].every((name) => files.includes(name)), true);
  // A link to its own parent directory is listed, but not followed in a loop.
  assertEquals(files.filter((path) => /^(self|sub\/above)\//.test(String(path))), []);
});

Deno.test("names with any character are listed and served", async () => {
  using server = await makeFileServer();
  const names = [
    "\n",
    '"',
    "'",
    "a\tb",
    "\x7f",
    "*",
    "[x]",
    "ö\u0301",
    "日本",
    "\u{1f600}",
    "-rf",
    " ",
    "a;b",
    "$(x)",
    "|x",
    "x?y",
  ];
  for (const name of names) Deno.writeTextFileSync(`${server.root}/salt/${name}`, name);
  const files = await ask(server, { cmd: "_file_list", saltenv: "base" });
  assert(Array.isArray(files));
  for (const name of names) {
    assertEquals(files.includes(name), true, name);
    const answer = await ask(server, {
      cmd: "_serve_file",
      path: `|${name.replace(/^\|/, "")}`,
      saltenv: "base",
      loc: 0,
    });
    if (!name.startsWith("|")) assertEquals(repr(answer).includes(repr(name).slice(1, -1)), true, name);
  }
});

Deno.test("a directory that vanishes is empty, and the next request is served", async () => {
  using server = await makeFileServer(map({ fileserver_list_cache_time: 0 }));
  const count = async () => (await ask(server, { cmd: "_file_list", saltenv: "base" }) as Value[]).length;
  assertEquals(await count() > 5, true);
  const walks = Array.from({ length: 20 }, count);
  Deno.removeSync(`${server.root}/salt`, { recursive: true });
  await Promise.all(walks);
  assertEquals(await count(), 3); // the files of the second root
  await assertNone(server, { path: "big.bin", saltenv: "base" });
  assertEquals(
    repr(await ask(server, { cmd: "_serve_file", path: "f.txt", saltenv: "base", loc: 0 })).includes("second"),
    true,
  );
});

Deno.test("the digest of a changed file is never the digest of its old content", async () => {
  using server = await makeFileServer();
  const path = `${server.root}/salt/changing`;
  const digests = new Set<string>();
  for (let i = 0; i < 50; i++) {
    Deno.writeTextFileSync(path, String(i).padStart(8, "0")); // the content always has the same size
    digests.add(repr(await ask(server, { cmd: "_file_hash", path: "changing", saltenv: "base" })));
  }
  assertEquals(digests.size, 50);
});

Deno.test("the digest of a large file is cached on disk until the file is removed", async () => {
  using server = await makeFileServer();
  const path = `${server.root}/salt/large`;
  Deno.writeFileSync(path, new Uint8Array(2 << 20));
  const load = { cmd: "_file_hash", path: "large", saltenv: "base" };
  const kept = `${server.services.opts.cachedir}/roots/hash/base/large.hash.sha256`;
  // The digest is not cached at once: a file that has just changed may change again with the same modification time.
  const digest = await ask(server, load);
  assertEquals(lexistsOrThrow(kept), false);
  await eventually(async () => (await ask(server, load), lexistsOrThrow(kept)), { what: "the digest on disk" });
  assert(isMap(digest));
  assertEquals(Deno.readTextFileSync(kept).split(":")[0], digest.get("hsum"));
  const files = new FileServer(server.services.opts, { backends: BACKENDS, log: () => {} });
  await reapBackends(files, { log: () => {} });
  assertEquals(Deno.statSync(kept).isFile, true);
  Deno.removeSync(path);
  await reapBackends(files, { log: () => {} });
  assertThrows(() => Deno.statSync(kept), Deno.errors.NotFound);
});

Deno.test("a master without a usable backend does not start, unless fileserver_verify_config is off", () => {
  const check = (fileserver_backend: string[], fileserver_verify_config = true) =>
    checkBackends({ fileserver_backend, fileserver_verify_config });
  for (const backends of [[], ["hgfs"]]) {
    assertThrows(() => check(backends), PreflightError);
    check(backends, false);
  }
  for (const backends of [["roots"], ["hgfs", "git"], ["minion"]]) check(backends);
});

Deno.test("a git remote that could run a program, or looks like an option of git, is refused", async () => {
  for (
    const remote of ["ext::sh -c id", "--upload-pack=touch /tmp/x", "-x", "", "file", "a b", 5, {
      "https://h/r": [{ nme: "x" }],
    }]
  ) {
    using server = await makeFileServer(map({ fileserver_backend: ["roots"] }));
    const logged: string[] = [];
    const opts = {
      ...server.services.opts,
      fileserver_backend: ["gitfs", "roots"],
      gitfs_remotes: [map({ remote }).get("remote") ?? null],
    };
    const files = new FileServer(opts, { backends: BACKENDS, log: (_level, message) => void logged.push(message) });
    // As in Salt, an invalid URL is left out, and an unknown option stops all remotes.
    const backends = await files.backends();
    const remotes = backends.flatMap(({ name, backend }) => name === "gitfs" ? backend.intervals() : []);
    assertEquals(remotes, [], String(remote));
    assertEquals(backends.at(-1)?.name, "roots");
    assertEquals(logged.length, 1);
  }
});

Deno.test("an unknown file server backend is named in the log, and the others are used", async () => {
  using server = await makeFileServer(map({ fileserver_backend: ["hgfs", "roots"] }));
  const logged: string[] = [];
  const files = new FileServer(server.services.opts, {
    backends: BACKENDS,
    log: (level, message) => void logged.push(`${level} ${message}`),
  });
  assertEquals((await files.backends()).map(({ name }) => name), ["roots"]);
  assertEquals(logged.length, 1);
  assertStringIncludes(logged[0], "warning There is no file server backend hgfs");
  for (const cmd of LISTS) {
    for (const prefix of [5, null]) assertEquals(await ask(server, { cmd, saltenv: "base", prefix }), "");
  }
});

Deno.test("a backend that fails is named in the log, and the others are updated and cleaned", async () => {
  using server = await makeFileServer(map({ fileserver_backend: ["roots", "minionfs"] }));
  const cachedir = server.services.opts.cachedir;
  Deno.mkdirSync(cachedir, { recursive: true });
  Deno.writeTextFileSync(`${cachedir}/roots`, "a file where a directory has to be");
  const files = new FileServer(server.services.opts, { backends: BACKENDS, log: () => {} });
  const logged: string[] = [];
  const host = { log: (_level: string, message: string) => void logged.push(message), fire: () => Promise.resolve() };
  await updateBackends(files, { changes: true, signal: new AbortController().signal }, host);
  await reapBackends(files, host);
  assertStringIncludes(logged[0], "The file server backend roots cannot be updated: ");
  assertStringIncludes(
    logged.slice(1).join("\n"),
    "The cached data of the file server backend roots cannot be cleaned: ",
  );
});

Deno.test("cached lists are removed by environment, also one with a foreign file name", async () => {
  using server = await makeFileServer();
  const { opts } = server.services;
  const directory = `${opts.cachedir}/file_lists/roots`;
  Deno.mkdirSync(directory, { recursive: true });
  for (const name of ["base.p", "a%2Fb.p", "%zz.p", "base.w"]) Deno.writeTextFileSync(`${directory}/${name}`, "");
  const files = new FileServer(opts, { backends: BACKENDS, log: () => {} });
  const clear = (saltenvs?: string[]) =>
    clearFileLists(files, { cachedir: opts.cachedir, saltenvs, backend: undefined });
  assertEquals([...await clear(["a/b"])], [["roots", ["a/b"]]]);
  assertEquals([...await clear()], [["roots", ["%zz", "base"]]]);
  assertEquals([...Deno.readDirSync(directory)].map(({ name }) => name), ["base.w"]);
});
