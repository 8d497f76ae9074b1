/**
 * Watches of large trees.
 * @module
 */

import { type FileEvent, FileWatches, maskName } from "#lib/host/filesystem/file_watches.ts";
import { INOTIFY_MASKS } from "#lib/libc/inotify.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
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

/** Watches, and what they have told. */
interface Told {
  readonly watches: FileWatches;
  readonly events: FileEvent[];
  readonly gone: string[];
  readonly problems: string[];
}

async function watching(act: (root: string, told: Told) => Promise<void>): Promise<void> {
  await withTemporaryDirectory(async (root) => {
    const events: FileEvent[] = [], gone: string[] = [], problems: string[] = [];
    const watches = new FileWatches({
      onEvents: (reported) => void events.push(...reported),
      onGone: (path) => void gone.push(path),
      onProblem: (text) => void problems.push(text),
    });
    try {
      await act(root, { watches, events, gone, problems });
    } finally {
      watches.close();
      watches.close();
    }
  });
}

const NEW = { mask: INOTIFY_MASKS.create, recurse: true, autoAdd: true, excludes: () => false };

Deno.test("what is not there is not watched, and a refusal of the kernel is named once", () =>
  watching((root, { watches, problems }) => {
    assertEquals([watches.add(`${root}/none`, NEW), watches.size, problems], [false, 0, []]);
    const onlydir = { ...NEW, mask: INOTIFY_MASKS.modify | INOTIFY_MASKS.onlydir };
    for (const name of ["one", "two"]) Deno.writeTextFileSync(`${root}/${name}`, "");
    assertEquals([watches.add(`${root}/one`, onlydir), watches.add(`${root}/two`, onlydir)], [false, false]);
    assertEquals([watches.size, problems.length], [0, 1]);
    assertMatch(problems[0], /one is not watched: the kernel refused the watch after 0 others; it allows a user \d+/);
    return Promise.resolve();
  }));

Deno.test("a path that is watched again is still watched, and one that goes is told of once", () =>
  watching(async (root, { watches, events, gone, problems }) => {
    Deno.mkdirSync(`${root}/d`);
    for (let i = 0; i < 2; i++) assert(watches.add(`${root}/d`, NEW));
    Deno.writeTextFileSync(`${root}/d/one`, "");
    Deno.writeTextFileSync(`${root}/d/two`, "");
    await eventually(() => events.length === 2, { what: "both files" });
    assertEquals(events.map(({ path }) => path), [`${root}/d/one`, `${root}/d/two`]);
    assertEquals([watches.size, gone], [1, []]);
    Deno.removeSync(`${root}/d`, { recursive: true });
    await eventually(() => gone.length > 0, { what: "the end" });
    assertEquals([watches.size, gone, problems], [0, [`${root}/d`], []]);
  }));

Deno.test("what is made in a new directory is reported, without what is left out; its files have no watch of their own", () =>
  watching(async (root, { watches, events, problems }) => {
    assert(watches.add(root, { ...NEW, excludes: (path) => path.endsWith("/left") }));
    // A directory that has gone again when its report comes.
    Deno.mkdirSync(`${root}/short`);
    Deno.removeSync(`${root}/short`);
    Deno.mkdirSync(`${root}/new/below`, { recursive: true });
    for (const path of ["new/file", "new/left", "new/below/file"]) Deno.writeTextFileSync(`${root}/${path}`, "");
    const paths = () => events.map(({ path }) => path.slice(root.length + 1)).sort();
    const expected = ["new", "new/below", "new/below/file", "new/file", "short"];
    await eventually(() => paths().length >= expected.length, { what: "all reports" });
    assertEquals([paths(), watches.size, problems], [expected, 3, []]);
    assertEquals(new Set(events.map(({ cookie }) => cookie)), new Set([0]));
    const mask = (name: string) => events.find(({ path }) => path === `${root}/${name}`)?.mask;
    assertEquals([mask("new/below"), mask("new/file")].map((bits) => maskName(bits ?? 0)), [
      "IN_CREATE|IN_ISDIR",
      "IN_CREATE",
    ]);
  }));

Deno.test("a listener that fails is told of it, and gets the next reports", () =>
  withTemporaryDirectory(async (root) => {
    const problems: string[] = [], paths: string[] = [];
    const watches = new FileWatches({
      onEvents: (events) => {
        if (paths.push(...events.map(({ path }) => path)) === 1) throw new Error("the listener failed");
      },
      onGone: () => {},
      onProblem: (text) => void problems.push(text),
    });
    try {
      assert(watches.add(root, NEW));
      Deno.writeTextFileSync(`${root}/one`, "");
      await eventually(() => problems.length > 0, { what: "the problem" });
      Deno.writeTextFileSync(`${root}/two`, "");
      await eventually(() => paths.length > 1, { what: "the next report" });
      assertEquals(problems, ["A report of the kernel was not handled: the listener failed"]);
    } finally {
      watches.close();
    }
  }));

Deno.test("after the end nothing is told", () =>
  watching(async (root, { watches, events }) => {
    assert(watches.add(root, NEW));
    Deno.writeTextFileSync(`${root}/one`, "");
    watches.close();
    await new Promise((resolve) => setTimeout(resolve, 200));
    assertEquals(events, []);
  }));

Deno.test("after lost reports new directories are watched, and a path that went meanwhile is told of", () =>
  watching(async (root, { watches, events, gone, problems }) => {
    const queue = Number(Deno.readTextFileSync("/proc/sys/fs/inotify/max_queued_events"));
    for (const name of ["tree", "going"]) Deno.mkdirSync(`${root}/${name}`);
    for (const name of ["file", "other"]) Deno.writeTextFileSync(`${root}/${name}`, "");
    for (const name of ["tree", "going"]) assert(watches.add(`${root}/${name}`, NEW));
    const plain = { ...NEW, mask: INOTIFY_MASKS.attrib, recurse: false, autoAdd: false };
    for (const name of ["file", "other"]) assert(watches.add(`${root}/${name}`, plain));
    // Equal reports that follow each other are one. Nothing reads them before this ends.
    for (let i = 0; i <= queue; i++) Deno.chmodSync(`${root}/${i % 2 === 0 ? "file" : "other"}`, 0o600);
    Deno.mkdirSync(`${root}/tree/new`);
    for (const name of ["going", "file"]) Deno.removeSync(`${root}/${name}`, { recursive: true });
    await eventually(() => gone.length === 2, { what: "both are told of" });
    assertEquals(new Set(gone), new Set([`${root}/going`, `${root}/file`]));
    assertEquals(problems, ["The kernel lost reports: more came than it keeps (fs.inotify.max_queued_events)"]);
    Deno.writeTextFileSync(`${root}/tree/new/file`, "");
    await eventually(() => events.some(({ path }) => path === `${root}/tree/new/file`), { what: "the new directory" });
    assertEquals(watches.size, 3);
  }));
