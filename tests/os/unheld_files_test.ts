/**
 * Files that a process without root's rights makes and changes: it holds no directory. In a file of its own, because a
 * thread finds out once whether it holds.
 * @module
 */

import { openToWrite, writeWithUmask } from "#lib/os/new_files.ts";
import { withUmask } from "#lib/os/umask.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("a link that leads to nothing is followed by who is not root, and the file is made where it leads", () =>
  withReplaced(Deno, { name: "uid", by: () => 1000 }, () =>
    withTemporaryDirectory(async (root) => {
      for (const name of ["a", "b"]) Deno.mkdirSync(`${root}/${name}`);
      Deno.symlinkSync("../b/relative", `${root}/a/one`);
      Deno.symlinkSync(`${root}/b/absolute`, `${root}/a/two`);
      Deno.symlinkSync("one", `${root}/a/three`);
      writeWithUmask(`${root}/a/three`, "1");
      writeWithUmask(`${root}/a/two`, "2");
      assertEquals(["relative", "absolute"].map((name) => Deno.readTextFileSync(`${root}/b/${name}`)), ["1", "2"]);
      assertThrows(() => openToWrite(`${root}/none/file`), Deno.errors.NotFound);
      // The mask of the call counts, also where the process's mask would take more.
      await withUmask(0, async () => await Promise.resolve(writeWithUmask(`${root}/open`, "", 0o666)));
      await withUmask(0o077, async () => await Promise.resolve(writeWithUmask(`${root}/closed`, "", 0o666)));
      const modes = ["open", "closed"].map((name) => (Deno.statSync(`${root}/${name}`).mode ?? 0) & 0o777);
      assertEquals(modes, [0o666, 0o600]);
    })));
