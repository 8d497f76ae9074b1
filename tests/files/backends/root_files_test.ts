/**
 * Files below the directories of an environment, found, listed and written by wheel functions.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { findFiles, listTree, readFound, rootsOf, writeBelow } from "#lib/files/backends/root_files.ts";
import { realPath } from "#lib/os/disk_paths.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { filesBelow } from "#tests/support/tree.ts";

/** A root with links in it, beside files that are none of its own. */
function withRoot(act: (root: string, top: string) => void): Promise<void> {
  return withTemporaryDirectory((directory) => {
    const top = realPath(directory);
    const root = `${top}/root`;
    Deno.mkdirSync(`${root}/d`, { recursive: true });
    Deno.mkdirSync(`${top}/root2`);
    for (const path of ["root/f", "secret", "root2/f"]) Deno.writeTextFileSync(`${top}/${path}`, "text");
    for (
      const [link, to] of [["in", "f"], ["out", "../secret"], ["up", ".."], ["nowhere", "../made"], ["inner", "new"]]
    ) {
      Deno.symlinkSync(to, `${root}/${link}`);
    }
    act(root, top);
  });
}

const OUTSIDE = [
  "../secret",
  "../root2/f",
  "d/../../secret",
  "out",
  "up/secret",
  "up/new",
  "nowhere",
  "a\0",
  "",
  ".",
  "d/..",
];

Deno.test("a file is found in each root that has it, by its path in the root or as a whole, and nothing outside of the roots", () =>
  withRoot((root, top) => {
    const found = (path: string) => findFiles([root, `${top}/root2`, `${top}/none`], path).map((one) => one.path);
    assertEquals(found("f"), [`${root}/f`, `${top}/root2/f`]);
    assertEquals([found("in"), found("./d/../f").length], [[`${root}/in`], 1]);
    assertEquals([found(`${root}/f`), found(`${top}/root2/f`)], [[`${root}/f`], [`${top}/root2/f`]]);
    const none = [...OUTSIDE.filter((path) => path !== "../root2/f"), "d", "f/x", `${top}/secret`, `${root}/../secret`];
    for (const path of none) assertEquals(found(path), [], path);
    assertEquals(findFiles([`${top}/ro\0ot`], "f"), []);
    // A root may itself be a link.
    Deno.symlinkSync("root", `${top}/alias`);
    assertEquals(findFiles([`${top}/alias`], "f").length, 1);
    assertEquals(findFiles(["/"], `${root}/f`).length, 1);
  }));

Deno.test("the first 512 bytes decide whether a file is text", () =>
  withRoot((root) => {
    Deno.writeTextFileSync(`${root}/late`, `${"a".repeat(512)}\0`);
    Deno.writeTextFileSync(`${root}/early`, `${"a".repeat(511)}\0`);
    assertEquals(["late", "early"].map((name) => findFiles([root], name)[0].kind), ["txt", "bin"]);
  }));

Deno.test("a file of 64 MiB is read, and a larger one is not", () =>
  withRoot((root) => {
    const file = { path: `${root}/f`, kind: "bin" } as const;
    Deno.truncateSync(file.path, 64 * 2 ** 20);
    assertEquals(readFound(file).length, 64 * 2 ** 20);
    Deno.truncateSync(file.path, 64 * 2 ** 20 + 1);
    assertThrows(() => readFound(file), CommandError, "is larger than 67108864 bytes");
  }));

Deno.test("a tree of 200,000 entries is listed, and one with more is refused; what is no directory is empty", () =>
  withRoot((root) => {
    const { readDirSync } = Deno;
    const many = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ name: `f${i}`, isFile: true, isDirectory: false, isSymlink: false }));
    try {
      Deno.readDirSync = () => many(200_000).values();
      assertEquals(listTree(root).size, 200_000);
      Deno.readDirSync = () => many(200_001).values();
      assertThrows(() => listTree(root), CommandError, `${root} holds more than 200000 files`);
    } finally {
      Deno.readDirSync = readDirSync;
    }
    for (const none of [`${root}/none`, `${root}/f`, `${root}/f/x`]) assertEquals(listTree(none), new Map());
  }));

Deno.test("a file is written below its root alone, with the mode that it had; a link in the root stays", () =>
  withRoot((root, top) => {
    const outside = () => [`${top}/secret`, `${top}/root2/f`].map((path) => Deno.readTextFileSync(path));
    for (const path of [...OUTSIDE, "/", "x/../.."]) assertEquals(writeBelow(root, path, "new"), undefined, path);
    assertEquals(writeBelow(`${root}\0`, "x", "new"), undefined);
    assertEquals(outside(), ["text", "text"]);
    assertEquals([...filesBelow(top)].filter((path) => /made|new/.test(path)), []);

    const modeOf = (path: string) => (Deno.statSync(`${root}/${path}`).mode ?? 0) & 0o7777;
    assertEquals([writeBelow(root, "x/y", "new"), modeOf("x/y")], [`${root}/x/y`, 0o644]);
    Deno.chmodSync(`${root}/f`, 0o600);
    assertEquals([writeBelow(root, "in", "new"), modeOf("f")], [`${root}/in`, 0o600]);
    assertEquals([Deno.readTextFileSync(`${root}/f`), Deno.lstatSync(`${root}/in`).isSymlink], ["new", true]);
    // Neither the root nor what is above it need to be there.
    assertEquals(writeBelow(`${top}/later/root`, "a/b", "new"), `${top}/later/root/a/b`);
    assertEquals(Deno.readTextFileSync(`${top}/later/root/a/b`), "new");
    assertThrows(() => writeBelow(root, "f/x", "new"), Error);
  }));

Deno.test("an environment has the directories that its option lists, and one that is not listed has none", () => {
  const roots = map({ base: ["/a", 5, "/b"], odd: "text" });
  assertEquals([rootsOf(roots, "base"), rootsOf(roots, "odd"), rootsOf(roots, "none")], [["/a", "/b"], [], undefined]);
});
