/** A file that others append to: each byte comes once, also when the file is cut, rotated away or made later. */

import { FollowedFile } from "#lib/host/filesystem/followed_file.ts";
import { Inotify } from "#lib/libc/inotify.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

interface Seen {
  /** What was added; `|` is a restart. */
  text: string;
  readonly problems: string[];
}

async function following(path: string, act: (seen: Seen, file: FollowedFile) => Promise<void>): Promise<void> {
  const seen: Seen = { text: "", problems: [] };
  const file = new FollowedFile(path, {
    onBytes: (bytes) => void (seen.text += new TextDecoder().decode(bytes)),
    onRestart: () => void (seen.text += "|"),
    onProblem: (text) => void seen.problems.push(text),
  });
  try {
    await act(seen, file);
  } finally {
    file.close();
    file.close();
  }
}

const append = (path: string, text: string) => Deno.writeTextFileSync(path, text, { append: true });
const until = (seen: Seen, text: string) => eventually(() => seen.text === text, { what: `${text}, not ${seen.text}` });

Deno.test("what is added after the beginning comes, and a cut file begins again", () =>
  withTemporaryDirectory(async (root) => {
    const path = `${root}/log`;
    append(path, "before\n");
    await following(path, async (seen) => {
      append(path, "one\n");
      await until(seen, "one\n");
      // Others write beside it.
      append(`${root}/other`, "x");
      append(path, "two\n");
      await until(seen, "one\ntwo\n");
      Deno.truncateSync(path, 0);
      await until(seen, "one\ntwo\n|");
      append(path, "three\n");
      await until(seen, "one\ntwo\n|three\n");
      Deno.chmodSync(path, 0o600);
      append(path, "four\n");
      await until(seen, "one\ntwo\n|three\nfour\n");
      assertEquals(seen.problems, []);
    });
  }));

Deno.test("a rotated file is read to its end, and the new one from its beginning", () =>
  withTemporaryDirectory(async (root) => {
    const path = `${root}/log`;
    append(path, "");
    await following(path, async (seen) => {
      append(path, "old");
      Deno.renameSync(path, `${path}.1`);
      append(path, "new");
      await until(seen, "old|new");
      append(`${path}.1`, "late");
      append(path, " more");
      await until(seen, "old|new more");
      Deno.removeSync(path);
      // Without the file there is nothing to read, and no end.
      await new Promise((resolve) => setTimeout(resolve, 500));
      assertEquals(seen.text, "old|new more");
      append(path, "again");
      await until(seen, "old|new more|again");
      assertEquals(seen.problems, []);
    });
  }));

Deno.test("a file that is not there is a problem once, and is followed when it comes", () =>
  withTemporaryDirectory(async (root) => {
    const path = `${root}/log`;
    await following(path, async (seen) => {
      append(`${root}/other`, "x");
      append(path, "first\n");
      await eventually(() => seen.text.endsWith("first\n"), { what: "the file" });
      assertEquals(seen.problems, [`No such file or directory: '${path}'`]);
    });
    await following(`${root}/none/log`, (seen) => {
      assert(seen.problems.length === 2);
      assertMatch(seen.problems[1], /none is no directory/);
      return Promise.resolve();
    });
  }));

Deno.test("a file that the kernel does not watch is a problem with the kernel's limit", () =>
  withTemporaryDirectory(async (root) => {
    const path = `${root}/log`;
    append(path, "before");
    const refuse = () => -1;
    await withReplaced(Inotify.prototype, { name: "watch", by: refuse }, () =>
      following(path, (seen) => {
        assertEquals(seen.problems.length, 1);
        assert(seen.problems[0].startsWith(`${path} is not watched: the kernel refused the watch after 0 others`));
        return Promise.resolve();
      }));
  }));

Deno.test("a file whose directory was made anew is found again", () =>
  withTemporaryDirectory(async (root) => {
    const path = `${root}/d/log`;
    Deno.mkdirSync(`${root}/d`);
    append(path, "");
    await following(path, async (seen) => {
      Deno.removeSync(`${root}/d`, { recursive: true });
      Deno.mkdirSync(`${root}/d`);
      append(path, "new");
      await until(seen, "|new");
      assertEquals(seen.problems, []);
    });
  }));

Deno.test("a file that may not be read is a problem, and one that is hidden later ends nothing", () =>
  withTemporaryDirectory(async (root) => {
    const path = `${root}/log`;
    append(path, "before");
    const by = () => {
      throw new Deno.errors.PermissionDenied("no");
    };
    await withReplaced(
      Deno,
      { name: "openSync", by },
      () => following(path, (seen) => Promise.resolve(assertEquals(seen.problems, [`Permission denied: '${path}'`]))),
    );
    await following(path, (seen) =>
      withReplaced(Deno, { name: "statSync", by }, async () => {
        append(path, "added");
        await until(seen, "added");
        await new Promise((resolve) => setTimeout(resolve, 50));
        assertEquals(seen.problems, []);
      }));
  }));
