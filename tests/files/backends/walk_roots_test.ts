/**
 * Lists and times of the files of an environment's directories.
 * @module
 */

import { PreflightError, StoreError } from "#lib/errors.ts";
import { checkBackends } from "#lib/config/backend_names.ts";
import { readMtimes } from "#lib/files/backends/mtime_map.ts";
import { walkRoots } from "#lib/files/backends/walk_roots.ts";
import { assertEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const RULES = { follow: true, withoutLinks: false, ignores: (path: string) => path.startsWith("ignored") };

function withTree(act: (root: string) => Promise<void>): Promise<void> {
  return withTemporaryDirectory(async (root) => {
    for (const directory of ["d/e", "empty", "ignored_empty"]) {
      Deno.mkdirSync(`${root}/${directory}`, { recursive: true });
    }
    for (const file of ["a", "d/b", "ignored"]) Deno.writeTextFileSync(`${root}/${file}`, "");
    for (
      const [link, to] of [["round", "."], ["d/back", ".."], ["to_empty", "empty"], ["to_a", "a"], ["gone", "none"]]
    ) {
      Deno.symlinkSync(to, `${root}/${link}`);
    }
    await act(root);
  });
}

Deno.test("the lists of an environment end where a link leads to a directory that it is in, and ignore what they shall", () =>
  withTree(async (root) => {
    const { files, dirs, emptyDirs } = await walkRoots([root, `${root}/none`], RULES);
    assertEquals(files, ["a", "d/b", "gone", "to_a"]);
    assertEquals(dirs, ["d", "d/back", "d/e", "empty", "round", "to_empty"]);
    assertEquals(emptyDirs, ["d/e", "empty", "to_empty"]);
    const plain = await walkRoots([root], { ...RULES, follow: false, withoutLinks: true });
    assertEquals([plain.files, plain.dirs, plain.links.size], [["a", "d/b"], ["d", "d/e", "empty"], 0]);
    const listed = await walkRoots([root], { ...RULES, follow: false });
    assertEquals([...listed.links.keys()], ["d/back", "gone", "round", "to_a", "to_empty"]);
    assertEquals(listed.emptyDirs, ["d/e", "empty", "to_empty"]);
  }));

Deno.test("an environment of more than two million entries is refused before they are looked at", () =>
  withTree(async (root) => {
    const { readDir } = Deno;
    const entry = { name: "f", isFile: true, isDirectory: false, isSymlink: false };
    Deno.readDir = () =>
      (async function* () {
        for (let i = 0; i <= 2_000_000; i++) yield entry;
      })();
    try {
      await assertRejects(() => walkRoots([root], RULES), StoreError, "hold more than 2000000 files");
    } finally {
      Deno.readDir = readDir;
    }
  }));

Deno.test("the times of an environment are those of its files, without the ignored ones, links to directories, and links to nothing", () =>
  withTree(async (root) => {
    const times = await readMtimes([root, `${root}/none`], (path) => path.endsWith("/ignored"));
    assertEquals([...times.keys()].map((path) => path.slice(root.length + 1)).sort(), ["a", "d/b", "to_a"]);
  }));

Deno.test("a master without a file server that it knows does not start, unless it was told not to look", () => {
  const check = (names: readonly string[], looks = true) =>
    checkBackends({ fileserver_backend: names, fileserver_verify_config: looks });
  check(["roots"]);
  check(["nothing", "git"]);
  check([], false);
  check(["nothing"], false);
  assertThrows(() => check([]), PreflightError, "fileserver_backend is empty");
  assertThrows(() => check(["nothing", "constructor"]), PreflightError, "nothing, constructor");
});
