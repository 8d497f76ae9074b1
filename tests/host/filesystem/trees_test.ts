/**
 * Directory trees that are created, copied and moved.
 * @module
 */
import {
  copyTree,
  copyWithMode,
  makeDirectories,
  measureTree,
  moveAny,
  removeAny,
} from "#lib/host/filesystem/trees.ts";
import { listOpenFiles } from "#lib/host/filesystem/open_files.ts";
import { assert, assertEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";

/** Runs `test` in a temporary directory below `parent`. */
async function within(test: (root: string) => void | Promise<void>, parent?: string): Promise<void> {
  const root = Deno.makeTempDirSync({ prefix: "trees_", ...parent !== undefined && { dir: parent } });
  try {
    await test(root);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

/** A tree with a file, a link and a directory. */
function plant(root: string): void {
  Deno.mkdirSync(`${root}/sub`, { recursive: true });
  Deno.writeTextFileSync(`${root}/sub/file`, "text");
  Deno.chmodSync(`${root}/sub/file`, 0o640);
  Deno.symlinkSync("sub/file", `${root}/link`);
}

Deno.test("directories are created with their parents, also for paths that end in a slash or a dot", async () => {
  await within(async (root) => {
    const made: string[] = [];
    const note = (path: string) => Promise.resolve(void made.push(path.slice(root.length)));
    await makeDirectories(`${root}/a/b/`, note);
    assertEquals(made, ["/a", "/a/b/"]);
    made.length = 0;
    await makeDirectories(`${root}/c/d/.`, note);
    assertEquals(made, ["/c", "/c/d"]);
    await assertRejects(() => makeDirectories(`${root}/a`, note), Deno.errors.AlreadyExists);
  });
});

Deno.test("a tree is copied with modes and times; links stay links on request", async () => {
  await within((root) => {
    plant(`${root}/from`);
    Deno.utimeSync(`${root}/from`, 1_000_000, 2_000_000);
    copyTree(`${root}/from`, `${root}/followed`);
    copyTree(`${root}/from`, `${root}/linked`, { links: true });
    assertEquals(Deno.lstatSync(`${root}/followed/link`).isSymlink, false);
    assertEquals(Deno.readLinkSync(`${root}/linked/link`), "sub/file");
    assertEquals((Deno.statSync(`${root}/linked/sub/file`).mode ?? 0) & 0o777, 0o640);
    assertEquals(Deno.statSync(`${root}/linked`).mtime?.getTime(), 2_000_000_000);
  });
});

Deno.test("a named pipe is not copied, as reading it would block for ever", async () => {
  await within(async (root) => {
    const { success } = await new Deno.Command("mkfifo", { args: [`${root}/pipe`] }).output();
    assert(success);
    assertThrows(() => copyWithMode(`${root}/pipe`, `${root}/copy`), Error, "is a named pipe");
  });
});

Deno.test("a move into a directory does not replace existing files", async () => {
  await within((root) => {
    plant(`${root}/from`);
    Deno.mkdirSync(`${root}/to/from`, { recursive: true });
    assertThrows(() => moveAny(`${root}/from`, `${root}/to`), Error, "already exists");
    Deno.removeSync(`${root}/to/from`);
    moveAny(`${root}/from/`, `${root}/to`);
    assertEquals(Deno.readTextFileSync(`${root}/to/from/sub/file`), "text");
  });
});

const ELSEWHERE = "/dev/shm";
const isElsewhere = () => {
  try {
    return Deno.statSync(ELSEWHERE).dev !== Deno.statSync(Deno.env.get("TMPDIR") ?? "/tmp").dev;
  } catch {
    return false;
  }
};

Deno.test({
  name: "files, links and trees are moved to another file system",
  ignore: !isElsewhere(),
  async fn() {
    await within((root) =>
      within((there) => {
        plant(`${root}/from`);
        moveAny(`${root}/from`, `${there}/to`);
        assertEquals(Deno.readTextFileSync(`${there}/to/link`), "text");
        assertEquals(Deno.readLinkSync(`${there}/to/link`), "sub/file");
        moveAny(`${there}/to/sub/file`, `${root}/file`);
        assertEquals((Deno.statSync(`${root}/file`).mode ?? 0) & 0o777, 0o640);
        moveAny(`${there}/to/link`, `${root}/link`);
        assertEquals(Deno.readLinkSync(`${root}/link`), "sub/file");
        assertEquals([...Deno.readDirSync(`${there}/to`)].map(({ name }) => name), ["sub"]);
        assertEquals([...Deno.readDirSync(`${there}/to/sub`)], []);
      }, ELSEWHERE)
    );
  },
});

Deno.test("the bytes of a tree count each file once, and no dangling links", async () => {
  await within((root) => {
    plant(`${root}/from`);
    Deno.linkSync(`${root}/from/sub/file`, `${root}/from/again`);
    Deno.symlinkSync("nowhere", `${root}/from/broken`);
    assertEquals(measureTree(`${root}/from`), 4);
    assertEquals(measureTree(`${root}/from/sub/file`), 4);
    assertEquals([removeAny(`${root}/from`), removeAny(`${root}/from`)], [true, false]);
  });
});

Deno.test("open files are listed by file and by process", async () => {
  await within((root) => {
    using _open = Deno.createSync(`${root}/held`);
    const [path] = [Deno.realPathSync(`${root}/held`)];
    const holders = listOpenFiles(false).get(path);
    assert(Array.isArray(holders) && holders.includes(Deno.pid));
    const own = listOpenFiles(true).get(Deno.pid);
    assert(Array.isArray(own) && own.includes(path) && own.includes(Deno.realPathSync(Deno.execPath())));
  });
});

Deno.test("a copy has the mode of its file or directory; until it is complete only its owner can read it", async () => {
  await within((root) => {
    plant(`${root}/from`);
    Deno.chmodSync(`${root}/from/sub`, 0o710);
    const modeOf = (name: string) => (Deno.statSync(`${root}/${name}`).mode ?? 0) & 0o7777;
    copyTree(`${root}/from`, `${root}/to`);
    copyWithMode(`${root}/from/sub/file`, `${root}/file`);
    assertEquals([modeOf("to/sub"), modeOf("file")], [0o710, 0o640]);
    // A directory cannot be read as a file: the copy stays as it was begun.
    assertThrows(() => copyWithMode(`${root}/from`, `${root}/begun`));
    assertEquals(modeOf("begun"), 0o600);
  });
});

Deno.test("a directory cannot be moved into itself, and is as it was", async () => {
  await within((root) => {
    Deno.mkdirSync(`${root}/a`);
    assertThrows(() => moveAny(`${root}/a`, `${root}/a/b`));
    assertEquals([...Deno.readDirSync(`${root}/a`)], []);
  });
});
