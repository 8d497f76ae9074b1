/** The data that a backend caches on disk about its files: lists, digests and modification times. */

import type { FileLists } from "#lib/plugins/file_backend.ts";
import { findBelow } from "#lib/files/backends/find_below.ts";
import { HashCache } from "#lib/files/backends/hash_cache.ts";
import { ListCache } from "#lib/files/backends/list_cache.ts";
import { loadMtimes, mtimeChanges, readMtimes, storeMtimes } from "#lib/files/backends/mtime_map.ts";
import { sleep } from "#lib/os/sleep.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, repr } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

async function inDirectory(act: (root: string) => Promise<void>): Promise<void> {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "kept_" }));
  try {
    await act(root);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

function recordingHost() {
  const logged: string[] = [];
  return { logged, log: (level: string, message: string) => void logged.push(`${level}: ${message}`) };
}

const LISTS: FileLists = { files: ["a"], dirs: [], emptyDirs: [], links: new Map([["l", "a"]]) };
const OTHERS: FileLists = { files: ["b"], dirs: ["d"], emptyDirs: ["d"], links: new Map<string, string>() };

const source = (lists: FileLists, roots: readonly string[] = []) => ({ roots, make: () => Promise.resolve(lists) });

Deno.test("a list is made again when a directory has changed since, at its root or below, and not before", async () => {
  await inDirectory(async (root) => {
    const roots = [`${root}/one`, `${root}/two`];
    Deno.mkdirSync(`${roots[1]}/d/deep`, { recursive: true });
    Deno.mkdirSync(roots[0]);
    const old = new Date(Date.now() - 60_000);
    const directories = [...roots, `${roots[1]}/d`, `${roots[1]}/d/deep`];
    for (const path of directories) Deno.utimeSync(path, old, old);
    // Each is another process, which looks at once.
    const get = (lists: FileLists) =>
      new ListCache(`${root}/lists`, 60, recordingHost()).get("base", source(lists, roots));
    const first = { ...LISTS, dirs: ["d", "d/deep"] };
    assertEquals(await get(first), first);
    assertEquals(await get(OTHERS), first);
    for (const [i, path] of directories.entries()) {
      Deno.writeTextFileSync(`${path}/new`, "");
      const lists = { ...first, files: [`${i}`] };
      assertEquals(await get(lists), lists, path);
      Deno.utimeSync(path, old, old);
      assertEquals(await get(OTHERS), lists);
    }
    // The same process looks once a second.
    const cache = new ListCache(`${root}/lists`, 60, recordingHost());
    const last = await cache.get("base", source(OTHERS, roots));
    Deno.writeTextFileSync(`${roots[0]}/newer`, "");
    assertEquals(await cache.get("base", source(OTHERS, roots)), last);
    const end = performance.now() + 20_000;
    while (await cache.get("base", source(OTHERS, roots)) === last && performance.now() < end) await sleep(50);
    assertEquals(await cache.get("base", source(OTHERS, roots)), OTHERS);
  });
});

Deno.test("cached file lists are shared with other threads, and rebuilt if the cache file is invalid", async () => {
  await inDirectory(async (root) => {
    const host = recordingHost();
    const cache = () => new ListCache(`${root}/lists`, 60, host);
    assertEquals(await cache().get("base", source(LISTS)), LISTS);
    assertEquals(await cache().get("base", source(OTHERS)), LISTS);
    for (const bytes of [encode([1], "disk"), new Uint8Array([0xc1])]) {
      Deno.writeFileSync(`${root}/lists/base.p`, bytes);
      assertEquals(await cache().get("base", source(OTHERS)), OTHERS);
    }
    const odd = map({ files: ["a", 1], dirs: null, links: { l: "a", m: 1 } });
    Deno.writeFileSync(`${root}/lists/base.p`, encode(odd, "disk"));
    assertEquals(await cache().get("base", source(OTHERS)), LISTS);
    assertEquals(host.logged, []);
  });
});

Deno.test("lists and digests that cannot be cached are still returned", async () => {
  await inDirectory(async (root) => {
    const host = recordingHost();
    Deno.writeTextFileSync(`${root}/file`, "");
    const lists = new ListCache(`${root}/file/lists`, 60, host);
    assertEquals(await lists.get("base", source(LISTS)), LISTS);
    Deno.writeFileSync(`${root}/large`, new Uint8Array(2 << 20));
    Deno.utimeSync(`${root}/large`, 1, 1);
    const large = { path: `${root}/large`, saltenv: "base", rel: "large" };
    const digests = new HashCache(`${root}/file/hash`, "md5", host);
    // The digest of a file that has just changed is not cached; creating the file counts as a change.
    for (const end = Date.now() + 5_000; host.logged.length < 2 && Date.now() < end;) {
      assertEquals(await digests.get(large), "b2d1236c286a3c0704224fe4105eca49");
    }
    assertEquals(host.logged.map((line) => line.split(root)[0]), [
      "error: The list of files ",
      "debug: The digest of ",
    ]);
  });
});

Deno.test("directories and missing files have no digest", async () => {
  await inDirectory(async (root) => {
    const digests = new HashCache(`${root}/hash`, "md5", recordingHost());
    for (const rel of ["", "x"]) {
      assertEquals(await digests.get({ path: `${root}/${rel}`, saltenv: "base", rel }), undefined);
    }
  });
});

Deno.test("digests of removed files are deleted, with directories that become empty", async () => {
  await inDirectory(async (root) => {
    for (const path of ["a/gone.hash.md5", "b/there.hash.md5", "b/gone.hash.md5", "b/other"]) {
      Deno.mkdirSync(`${root}/hash/base/${path.slice(0, 1)}`, { recursive: true });
      Deno.writeTextFileSync(`${root}/hash/base/${path}`, "");
    }
    const digests = new HashCache(`${root}/hash`, "md5", recordingHost());
    await digests.reap((rel, saltenv) => Promise.resolve(saltenv === "base" && rel === "b/there"));
    assertEquals(lexistsOrThrow(`${root}/hash/base/a`), false);
    assertEquals([...Deno.readDirSync(`${root}/hash/base/b`)].map(({ name }) => name), ["there.hash.md5"]);
  });
});

Deno.test("modification times omit ignored files and dangling links, and show the changed files", async () => {
  await inDirectory(async (root) => {
    Deno.mkdirSync(`${root}/d`);
    for (const path of ["a", "d/b", "d/b~"]) {
      Deno.writeTextFileSync(`${root}/${path}`, "");
      Deno.utimeSync(`${root}/${path}`, 5, 7);
    }
    Deno.symlinkSync("nowhere", `${root}/l`);
    const times = await readMtimes([`${root}/`, `${root}/x`], (path) => path.endsWith("~"));
    assertEquals(new Map([...times].sort()), new Map([[`${root}/a`, 7], [`${root}/d/b`, 7]]));
    assertEquals((await loadMtimes(`${root}/cache/times`)).size, 0);
    await storeMtimes(`${root}/cache/times`, times);
    Deno.writeTextFileSync(`${root}/cache/times`, "no entry\nx:y\n", { append: true });
    assertEquals(await loadMtimes(`${root}/cache/times`), times);
    const before = new Map([["a", 1], ["b", 2], ["c", 3]]), now = new Map([["a", 1], ["b", 3], ["d", 4]]);
    assertEquals(
      repr(mtimeChanges(before, now, "roots")),
      repr(map({ changed: true, files: { changed: ["b"], removed: ["c"], added: ["d"] }, backend: "roots" })),
    );
  });
});

Deno.test("paths that lead out of a root are not found", async () => {
  await inDirectory(async (root) => {
    Deno.mkdirSync(`${root}/top`);
    Deno.writeTextFileSync(`${root}/secret`, "");
    Deno.symlinkSync("../secret", `${root}/top/link`);
    const found = async (rel: string, follow: boolean) => (await findBelow(`${root}/top/`, rel, { follow }))?.rel;
    assertEquals(await found("../secret", true), undefined);
    assertEquals([await found("link", false), await found("link", true)], [undefined, "link"]);
  });
});
