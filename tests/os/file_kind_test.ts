import { isDirectory, isFile, lexists, lexistsOrThrow, mayExist } from "#lib/os/file_kind.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const FUNCTIONS = { isFile, isDirectory, isAnything: lexists, isThere: lexistsOrThrow, isThereOrHidden: mayExist };

/** The functions that return true for each path; the others return false. */
const CASES: Readonly<Record<string, readonly (keyof typeof FUNCTIONS)[]>> = {
  "file": ["isFile", "isAnything", "isThere", "isThereOrHidden"],
  "directory": ["isDirectory", "isAnything", "isThere", "isThereOrHidden"],
  "link-to-file": ["isFile", "isAnything", "isThere", "isThereOrHidden"],
  "link-to-directory": ["isDirectory", "isAnything", "isThere", "isThereOrHidden"],
  "link-to-nothing": ["isAnything", "isThere"],
  "nothing": [],
  "nothing/below": [],
};

for (const [path, says] of Object.entries(CASES)) {
  Deno.test(`the kind of a path: ${path} ${says.length === 0 ? "is nothing" : says.join(", ")}`, () =>
    withTemporaryDirectory((dir) => {
      Deno.writeTextFileSync(`${dir}/file`, "");
      Deno.mkdirSync(`${dir}/directory`);
      for (const to of ["file", "directory", "nothing"]) Deno.symlinkSync(to, `${dir}/link-to-${to}`);
      const yes = Object.entries(FUNCTIONS).filter(([, is]) => is(`${dir}/${path}`)).map(([name]) => name);
      assertEquals<readonly string[]>(yes, says);
    }));
}

Deno.test("for a path that the system cannot stat all functions return false, but isThere() throws", () => {
  const file = Deno.makeTempFileSync({ prefix: "kind_" });
  try {
    const below = `${file}/below`; // it is a file, not a directory
    assertEquals([isFile(below), isDirectory(below), lexists(below), mayExist(below)], Array(4).fill(false));
    assertThrows(() => lexistsOrThrow(below), Deno.errors.NotADirectory);
  } finally {
    Deno.removeSync(file);
  }
});
