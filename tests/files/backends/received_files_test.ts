import { pushedFiles, receivePiece } from "#lib/files/backends/received_files.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { filesBelow } from "#tests/support/tree.ts";

/** The path and offset of a chunk, its text, and the file size that the minion declares. */
type Piece = readonly [path: string, loc: number, text: string, size?: number];

/** The chunks pushed before, the last chunk, whether it is stored, and the content of the file afterwards. */
const PUSHES: readonly [what: string, before: readonly Piece[], last: Piece, kept: boolean, content?: string][] = [
  ["a whole file", [], ["a/b", 0, "xyz", 3], true, "xyz"],
  ["the first chunk does not create the file yet", [], ["a", 0, "xyz", 6], true],
  ["the last chunk creates the file", [["a", 0, "xyz", 6]], ["a", 3, "uvw", 6], true, "xyzuvw"],
  ["a chunk that is sent again", [["a", 0, "xyz", 6], ["a", 3, "uvw", 6]], ["a", 3, "uvw", 6], true, "xyzuvw"],
  ["without a size each chunk is written to the file at once", [["a", 0, "xyz"]], ["a", 3, "u"], true, "xyzu"],
  ["a chunk after a gap", [["a", 0, "xyz", 9]], ["a", 6, "uvw", 9], false],
  ["a chunk without the first one", [], ["a", 3, "uvw", 6], false],
  ["a file in place of a directory", [["a/b", 0, "xyz", 3]], ["a", 0, "uvw", 3], false],
  ["a file below a file", [["a", 0, "xyz", 3]], ["a/b", 0, "uvw", 3], false],
  ["a name that is too long for the system", [], ["a".repeat(300), 0, "xyz", 3], false],
  ["a path of 4,096 characters", [], [`${"./".repeat(2_047)}ab`, 0, "xyz", 3], true, "xyz"],
  [
    "a directory in place of a file of several chunks",
    [["a", 0, "xyz", 6], ["a/b", 0, "xyz", 3]],
    ["a", 3, "uvw", 6],
    false,
  ],
  ["a path that is too long by one character", [], [`${"./".repeat(2_047)}abc`, 0, "xyz", 3], false],
  ["a path that is too long", [], ["a/".repeat(3_000), 0, "xyz", 3], false],
  ...["", ".", "..", "../a", "a/../../b", "/etc/x", "a\0b"].map((path): (typeof PUSHES)[number] => [
    `the path ${JSON.stringify(path)}`,
    [],
    [path, 0, "xyz", 3],
    false,
  ]),
];
for (const [what, before, last, kept, content] of PUSHES) {
  Deno.test(`a pushed file: ${what}`, () =>
    withTemporaryDirectory(async (cachedir) => {
      const push = ([path, loc, text, size]: Piece) =>
        receivePiece({ cachedir, id: "m1" }, { path, loc, data: new TextEncoder().encode(text), size });
      for (const piece of before) assertEquals(await push(piece), true);
      assertEquals(await push(last), kept);
      if (kept) assertEquals(textAt(`${pushedFiles(cachedir, "m1")}/${last[0].replace(/^(?:\.\/)+/, "")}`), content);
    }));
}

function textAt(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

Deno.test("a pushed file goes through no link that leads out of the minion's directory", () =>
  withTemporaryDirectory(async (root) => {
    const cachedir = `${root}/cache`;
    const files = pushedFiles(cachedir, "m1");
    Deno.mkdirSync(`${files}/own`, { recursive: true });
    Deno.mkdirSync(`${root}/outside`);
    Deno.writeTextFileSync(`${root}/outside/there`, "old");
    for (const [link, to] of [["out", `${root}/outside`], ["up", "../../.."], ["in", "own"]]) {
      Deno.symlinkSync(to, `${files}/${link}`);
    }
    Deno.symlinkSync(`${root}/outside/there`, `${files}/file`);
    const push = (path: string, size?: number) =>
      receivePiece({ cachedir, id: "m1" }, { path, loc: 0, data: new TextEncoder().encode("xyz"), size });
    for (const path of ["out/new", "out/there", "out/a/b", "up/x", "up/minions/m2/files/x", "file"]) {
      for (const size of [3, undefined]) assertEquals(await push(path, size), false, path);
    }
    assertEquals([...filesBelow(`${root}/outside`)].map((path) => [path, Deno.readTextFileSync(path)]), [
      [`${root}/outside/there`, "old"],
    ]);
    assertEquals(Deno.lstatSync(`${files}/file`).isSymlink, true);
    assertEquals([textAt(`${cachedir}/x`), textAt(`${cachedir}/minions/m2/files/x`)], [undefined, undefined]);
    // A link within it is one of its own directories.
    assertEquals([await push("in/a", 3), textAt(`${files}/own/a`)], [true, "xyz"]);
  }));

Deno.test("what is in the way of a pushed file refuses it; any other failure is an error", () =>
  withTemporaryDirectory(async (cachedir) => {
    const { open } = Deno;
    const coded = (code: string) => Object.assign(new Error(code), { code });
    const push = (error: Error) => {
      Deno.open = () => Promise.reject(error);
      const data = new Uint8Array(3);
      return receivePiece({ cachedir, id: "m1" }, { path: "a", loc: 0, data, size: 3 }).finally(() => Deno.open = open);
    };
    const { NotFound, NotADirectory, AlreadyExists, IsADirectory, FilesystemLoop, PermissionDenied } = Deno.errors;
    for (const kind of [NotFound, NotADirectory, AlreadyExists, IsADirectory, FilesystemLoop]) {
      assertEquals(await push(new kind("in the way")), false, kind.name);
    }
    assertEquals(await push(coded("ENAMETOOLONG")), false);
    for (const error of [coded("ENOSPC"), new PermissionDenied("no"), new Error("ENAMETOOLONG")]) {
      await assertRejects(() => push(error), Error, error.message);
    }
  }));
