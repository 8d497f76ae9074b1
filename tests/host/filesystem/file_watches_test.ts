/**
 * Watches of large trees.
 * @module
 */

import { type FileEvent, FileWatches } from "#lib/host/filesystem/file_watches.ts";
import { INOTIFY_MASKS } from "#lib/libc/inotify.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const LIMIT = Number(Deno.readTextFileSync("/proc/sys/fs/inotify/max_user_watches"));

Deno.test({
  name: "10,000 directories are watched, found again after a move, and forgotten when they go",
  ignore: LIMIT < 20_000,
  async fn() {
    await withTemporaryDirectory(async (root) => {
      for (let i = 0; i < 100; i++) {
        for (let j = 0; j < 99; j++) Deno.mkdirSync(`${root}/tree/${i}/${j}`, { recursive: true });
      }
      const told: FileEvent[] = [], problems: string[] = [];
      const watches = new FileWatches({
        onEvents: (events) => void told.push(...events),
        onGone: () => {},
        onProblem: (text) => void problems.push(text),
      });
      try {
        const options = { mask: INOTIFY_MASKS.create, recurse: true, autoAdd: true, excludes: () => false };
        assert(watches.add(`${root}/tree`, options));
        assertEquals(watches.size, 10_001);
        const seen = (path: string) => told.some((event) => event.path === path);
        Deno.writeTextFileSync(`${root}/tree/99/98/file`, "");
        await eventually(() => seen(`${root}/tree/99/98/file`), { what: "a file in the last directory" });
        Deno.renameSync(`${root}/tree/7`, `${root}/tree/moved`);
        await eventually(() => {
          const path = `${root}/tree/moved/3/${crypto.randomUUID()}`;
          Deno.writeTextFileSync(path, "");
          return told.some((event) => event.watched === `${root}/tree/moved/3`);
        }, { what: "a file in a moved directory" });
        assertEquals(watches.size, 10_001);
        Deno.removeSync(`${root}/tree/moved`, { recursive: true });
        await eventually(() => watches.size === 10_001 - 100, { what: "the removed directories are forgotten" });
        // What is moved out of the tree is not watched any more.
        Deno.renameSync(`${root}/tree/8`, `${root}/outside`);
        await eventually(() => watches.size === 10_001 - 200, { what: "the directories outside are forgotten" });
        assertEquals(problems, []);
      } finally {
        watches.close();
      }
    });
  },
});
