import { isMissing, SmallFiles } from "#lib/os/small_files.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("small files of any size are read completely, one after the other", () =>
  withTemporaryDirectory((directory) => {
    const files = new SmallFiles();
    for (const size of [3, 0, 16_383, 16_384, 16_385, 100_000, 2]) {
      const bytes = Uint8Array.from({ length: size }, (_, i) => i);
      Deno.writeFileSync(`${directory}/${size} bytes – é`, bytes);
      assertEquals(files.read(`${directory}/${size} bytes – é`)?.slice(), bytes);
    }
  }));

Deno.test("a missing file is undefined, and an unreadable one is an error", () =>
  withTemporaryDirectory((directory) => {
    const files = new SmallFiles();
    assertEquals(files.read(`${directory}/none`), undefined);
    assertThrows(() => files.read(directory), Deno.errors.IsADirectory);
    assertThrows(() => files.read(`${directory}/${"x/".repeat(5000)}`), Error);
    Deno.writeTextFileSync(`${directory}/one`, "1");
    assertEquals(files.read(`${directory}/one`), new Uint8Array([0x31]));
  }));

Deno.test("a file is known to be missing only in a directory that is there", () =>
  withTemporaryDirectory((directory) => {
    assertEquals(isMissing(`${directory}/none`), true);
    Deno.writeTextFileSync(`${directory}/one`, "1");
    assertEquals(isMissing(`${directory}/one`), false);
    // The runtime says why: the directory is missing, it is a file, or the path is too long.
    assertEquals(isMissing(`${directory}/none/one`), false);
    assertEquals(isMissing(`${directory}/one/none`), false);
    assertEquals(isMissing(`${directory}/${"x/".repeat(5000)}`), false);
    assertEquals(isMissing("/none-at-all"), true);
    assertEquals(isMissing("none-at-all"), true);
    assertEquals(isMissing("."), false);
  }));
