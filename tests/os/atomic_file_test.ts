/** @module */
import { readFileIfExists, readTextFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

function inTemporaryDirectory(run: (dir: string) => void): () => void {
  return () => {
    const dir = Deno.makeTempDirSync({ prefix: "atomic_file_" });
    try {
      run(dir);
    } finally {
      Deno.removeSync(dir, { recursive: true });
    }
  };
}

const names = (dir: string) => Array.from(Deno.readDirSync(dir), (entry) => entry.name);

Deno.test(
  "writeFileAtomic() writes text and bytes, replaces the old file, and leaves no other file",
  inTemporaryDirectory((dir) => {
    const path = `${dir}/key`;
    writeFileAtomic(path, "schlüssel\n");
    assertEquals(readTextFileIfExists(path), "schlüssel\n");
    writeFileAtomic(path, new Uint8Array([0, 255, 1]), { sync: true });
    assertEquals(readFileIfExists(path), new Uint8Array([0, 255, 1]));
    writeFileAtomic(path, "");
    assertEquals(readTextFileIfExists(path), "");
    assertEquals(names(dir), ["key"]);
  }),
);

for (const mode of [0o400, 0o600, 0o644, 0o666]) {
  Deno.test(
    `writeFileAtomic() sets the mode ${mode.toString(8)}, also if the file had another`,
    inTemporaryDirectory((dir) => {
      const path = `${dir}/key`;
      writeFileAtomic(path, "a", { mode: 0o640 });
      writeFileAtomic(path, "b", { mode });
      writeFileAtomic(path, "c", { mode }); // a file with mode 0400 can be replaced too
      assertEquals((Deno.statSync(path).mode ?? 0) & 0o777, mode);
      assertEquals(readTextFileIfExists(path), "c");
    }),
  );
}

Deno.test(
  "writeFileAtomic() creates files that only the owner can read, unless a mode is given",
  inTemporaryDirectory((dir) => {
    writeFileAtomic(`${dir}/key`, "a");
    assertEquals((Deno.statSync(`${dir}/key`).mode ?? 0) & 0o777, 0o600);
  }),
);

Deno.test(
  "a failing writeFileAtomic() leaves only the old file",
  inTemporaryDirectory((dir) => {
    Deno.mkdirSync(`${dir}/taken/below`, { recursive: true });
    assertThrows(() => writeFileAtomic(`${dir}/taken`, "x"));
    assertThrows(() => writeFileAtomic(`${dir}/missing/key`, "x"), Deno.errors.NotFound);
    assertEquals(names(dir), ["taken"]);
  }),
);

Deno.test(
  "writeFileAtomic() with createNew writes a new file, and does not change an existing one or a dangling link",
  inTemporaryDirectory((dir) => {
    writeFileAtomic(`${dir}/key`, "first", { createNew: true, mode: 0o400 });
    assertThrows(() => writeFileAtomic(`${dir}/key`, "second", { createNew: true }), Deno.errors.AlreadyExists);
    Deno.symlinkSync(`${dir}/nothing`, `${dir}/link`);
    assertThrows(() => writeFileAtomic(`${dir}/link`, "second", { createNew: true }), Deno.errors.AlreadyExists);
    assertEquals(readTextFileIfExists(`${dir}/key`), "first");
    assertEquals((Deno.statSync(`${dir}/key`).mode ?? 0) & 0o777, 0o400);
    assertEquals(names(dir).sort(), ["key", "link"]);
  }),
);

Deno.test(
  "writeFileAtomic() accepts names up to the file system's limit",
  inTemporaryDirectory((dir) => {
    const name = "n".repeat(255);
    writeFileAtomic(`${dir}/${name}`, "x");
    assertEquals(names(dir), [name]);
  }),
);

Deno.test(
  "a path without a directory is written in the working directory",
  inTemporaryDirectory((dir) => {
    const before = Deno.cwd();
    Deno.chdir(dir);
    try {
      writeFileAtomic("key", "x");
      assertEquals(readTextFileIfExists("key"), "x");
    } finally {
      Deno.chdir(before);
    }
  }),
);

Deno.test(
  "a missing file reads as undefined and is not removed; a directory is an error",
  inTemporaryDirectory((dir) => {
    writeFileAtomic(`${dir}/file`, "x");
    for (const path of [`${dir}/none`, `${dir}/none/below`, `${dir}/file/below`]) {
      assertEquals(readFileIfExists(path), undefined);
      assertEquals(readTextFileIfExists(path), undefined);
      assertEquals(removeIfExists(path), false);
    }
    assertThrows(() => readFileIfExists(dir));
    assertEquals(removeIfExists(`${dir}/file`), true);
    assertEquals(removeIfExists(`${dir}/file`), false);
  }),
);

Deno.test(
  "writeFileAtomic() creates missing directories only with the option for it",
  inTemporaryDirectory((dir) => {
    const path = `${dir}/a/b/key`;
    assertThrows(() => writeFileAtomic(path, "a"), Deno.errors.NotFound);
    writeFileAtomic(path, "a", { makeDirectory: true });
    assertEquals(readTextFileIfExists(path), "a");
    assertEquals((Deno.statSync(`${dir}/a/b`).mode ?? 0) & 0o777, 0o700);
  }),
);

Deno.test(
  "a synced file makes the name of its directory last too, if that was made after the directory above it was synced",
  inTemporaryDirectory((dir) => {
    writeFileAtomic(`${dir}/first`, "", { sync: true });
    Deno.mkdirSync(`${dir}/later`);
    const { openSync } = Deno, opened: string[] = [];
    const noting = (path: string, options?: Deno.OpenOptions) => (opened.push(path), openSync(path, options));
    Object.assign(Deno, { openSync: noting });
    try {
      writeFileAtomic(`${dir}/later/file`, "", { sync: true });
    } finally {
      Object.assign(Deno, { openSync });
    }
    assertEquals(opened.filter((path) => !path.endsWith(".tmp")), [`${dir}/later`, dir]);
  }),
);
