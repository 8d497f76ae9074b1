/**
 * Names and paths from minions: what may be a part of a path, and what is below a directory.
 * @module
 */

import { fileNameOf, followLinks, isBelow, isReallyBelow, safePath } from "#lib/files/backends/safe_path.ts";
import { environmentDirectories } from "#lib/files/backends/env_directories.ts";
import { findBelow } from "#lib/files/backends/find_below.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const LONGEST = "a".repeat(4_096);

Deno.test("a path from a minion is relative, has no step upwards and no NUL, and at most 4,096 characters", () => {
  const good = [["a", "a"], ["a/b", "a/b"], ["./a//b/.", "a/b"], ["..a", "..a"], ["a..", "a.."], [
    "a/..b/c",
    "a/..b/c",
  ]];
  for (const [path, safe] of [...good, [LONGEST, LONGEST]]) assertEquals(safePath(path), safe, path);
  const bad = ["", "/", "/etc/passwd", "..", "../a", "a/..", "a/../b", "a../b", "a\0", "\0", `${LONGEST}a`];
  for (const path of bad) assertEquals(safePath(path), undefined, path);
});

Deno.test("a name of an environment is a part of a path without an empty step, a step upwards, a NUL or too many characters", () =>
  withTemporaryDirectory(async (directory) => {
    const top = await followLinks(directory);
    Deno.mkdirSync(`${top}/envs`);
    Deno.symlinkSync("..", `${top}/envs/up`);
    const roots = ["/srv/own", `${top}/envs/__env__/files`];
    const of = (saltenv: string, follow = true) => environmentDirectories(roots, saltenv, { follow });
    for (const name of ["base", "a/b", "..a", "a b", "$&", LONGEST]) {
      assertEquals(of(name), ["/srv/own", `${top}/envs/${name}/files`], name);
    }
    const bad = ["", ".", "..", "../a", "a/..", "a/../b", "a/./b", "/a", "a/", "a//b", "a\0", `${LONGEST}a`];
    for (const name of bad) assertEquals(of(name), undefined, name);
    // A link leads out of the directory only if links are followed.
    assertEquals([of("up")?.length, of("up", false), of("base", false)?.length], [2, undefined, 2]);
    // The name may be a part of a step, and stands below the directory of that.
    assertEquals(environmentDirectories([`${top}/x__env__y`], "a", { follow: false }), [`${top}/xay`]);
    // What the configuration adds does not lead out of that directory either.
    assertEquals(environmentDirectories([`${top}/envs/__env__/../../other`], "a", { follow: true }), undefined);
  }));

Deno.test("an environment is one step of the name of a file", () => {
  assertEquals(fileNameOf("a/b:c*"), "a%2Fb%3Ac%2A");
});

Deno.test("a path is below a directory if it is that or begins with it and a slash", () => {
  for (const [root, path] of [["/a", "/a"], ["/a", "/a/b"], ["/", "/"], ["/", "/x"]]) {
    assertEquals(isBelow(root, path), true, `${root} ${path}`);
  }
  for (const [root, path] of [["/a", "/ab"], ["/a", "/"], ["/a/b", "/a"], ["/a", "a/b"]]) {
    assertEquals(isBelow(root, path), false, `${root} ${path}`);
  }
});

Deno.test("a file is found below a directory only if it is a file, and no link leads out unless links are followed", () =>
  withTemporaryDirectory(async (directory) => {
    const top = await followLinks(directory);
    const root = `${top}/root`;
    Deno.mkdirSync(`${root}/d`, { recursive: true });
    for (const path of [`${root}/f`, `${top}/secret`, `${top}/root2`]) Deno.writeTextFileSync(path, "text");
    for (const [link, to] of [["in", "f"], ["out", "../secret"], ["up", ".."], ["nowhere", "../none"]]) {
      Deno.symlinkSync(to, `${root}/${link}`);
    }
    const found = async (rel: string, follow: boolean, from = root) =>
      (await findBelow(from, rel, { follow }))?.path.slice(top.length);
    for (const follow of [true, false]) {
      for (const rel of ["f", "in"]) assertEquals(await found(rel, follow), `/root/${rel}`);
      assertEquals(await found("f", follow, `${root}/`), "/root/f");
      for (const rel of ["", "d", "none", "f/x", "nowhere", "../secret", "d/../../secret", "../root2"]) {
        assertEquals(await found(rel, follow), undefined, rel);
      }
    }
    for (const rel of ["out", "up/secret"]) {
      assertEquals([await found(rel, true), await found(rel, false)], [`/root/${rel}`, undefined]);
      assertEquals(await isReallyBelow(root, `${root}/${rel}`), false);
    }
    // What is not there yet counts where it would be made.
    assertEquals([await isReallyBelow(root, `${root}/d/new/x`), await isReallyBelow(root, `${root}/up/new/x`)], [
      true,
      false,
    ]);
  }));
