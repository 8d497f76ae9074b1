import { isMissing, SmallFiles, writeSmallFile } from "#lib/os/small_files.ts";
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

Deno.test("a small file is written whole, for its owner alone, also over another one", () =>
  withTemporaryDirectory((directory) => {
    const path = `${directory}/é`;
    const shared = new Uint8Array(new SharedArrayBuffer(3)).fill(7);
    for (
      const bytes of [new Uint8Array(70_000).fill(1), new Uint8Array(), shared, new Uint8Array([2, 3]).subarray(1)]
    ) {
      writeSmallFile(path, bytes);
      assertEquals(Deno.readFileSync(path), new Uint8Array(bytes));
      assertEquals(Deno.statSync(path).mode! & 0o777, 0o600);
    }
    Deno.removeSync(path);
    Deno.symlinkSync(`${directory}/elsewhere`, path);
    Deno.symlinkSync("/dev/full", `${directory}/full`);
    writeSmallFile(path, new Uint8Array([1]));
    assertEquals(Deno.readFileSync(path), new Uint8Array([1]));
    assertThrows(() => writeSmallFile(`${directory}/none/one`, new Uint8Array()), Deno.errors.NotFound);
    assertThrows(() => writeSmallFile(`${directory}/full`, new Uint8Array([1])), Error);
    assertThrows(() => writeSmallFile(`${directory}/${"x/".repeat(5000)}`, new Uint8Array()), Error);
  }));
