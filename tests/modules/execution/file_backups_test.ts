/**
 * Tests of file.restore_backup, file.delete_backup and file.seek_write: changes of files, and Salt's texts.
 * @module
 */

import { map, type Value } from "#lib/values/value.ts";
import { makeBackup } from "#lib/host/filesystem/backups.ts";
import { CommandError } from "#lib/errors.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { run, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("a backup is restored and removed; the current file becomes a backup first", () =>
  withTemporaryDirectory(async (root) => {
    const opts = testOpts({ root_dir: root });
    const { call } = testContext({ opts });
    const path = `${root}/f`;
    const locations = async () => {
      const backups = await call("file.list_backups", [path]);
      assert(backups instanceof Map);
      return [...backups.values()].map((one) => one instanceof Map ? String(one.get("Location")) : "");
    };
    Deno.writeTextFileSync(path, "one");
    makeBackup(path, { cachedir: opts.cachedir });
    Deno.writeTextFileSync(path, "two");
    const [first] = await locations();

    for (const id of ["1", 1, -1]) {
      const comment = `backup_id '${id}' does not exist for ${path}`;
      assertEquals(await call("file.restore_backup", [path, id]), map({ result: false, comment }));
    }
    for (const id of ["x", "01", "+0", " 0"]) {
      const comment = `Invalid backup_id '${id}'`;
      assertEquals(await call("file.delete_backup", [path, id]), map({ result: false, comment }));
    }
    assertEquals(
      await call("file.restore_backup", [path, 0]),
      map({ result: true, comment: `Successfully restored ${first} to ${path}` }),
    );
    assertEquals(Deno.readTextFileSync(path), "one");
    const [second, ...older] = await locations();
    assertEquals([Deno.readTextFileSync(second), ...older], ["two", first]);

    assertEquals(
      await call("file.delete_backup", [path, "0"]),
      map({ result: true, comment: `Successfully removed ${second}` }),
    );
    assertEquals(await locations(), [first]);
    assertEquals(
      await call("file.remove_backup", [path, 0]),
      map({ result: true, comment: `Successfully removed ${first}` }),
    );
    assertEquals(await call("file.list_backups", [path]), new Map());
  }));

Deno.test("file.seek_write overwrites a part of a file, and returns the number of bytes", async () => {
  const path = Deno.makeTempFileSync({ prefix: "seek_" });
  try {
    Deno.writeTextFileSync(path, "0123456789");
    const written = async (data: Value, offset: number) => (await run("file.seek_write", [path, data, offset])).return;
    assertEquals(await written("äb", 2), 3);
    assertEquals(await written(new Uint8Array([33]), 12), 1);
    assertEquals(Deno.readTextFileSync(path), "01äb56789\0\0!");
  } finally {
    Deno.removeSync(path);
  }
});

Deno.test("a backup of a removed file is restored, if its directory exists", () =>
  withTemporaryDirectory(async (root) => {
    const opts = testOpts({ root_dir: root });
    const { call } = testContext({ opts });
    const path = `${root}/d/f`;
    Deno.mkdirSync(`${root}/d`);
    Deno.writeTextFileSync(path, "one");
    makeBackup(path, { cachedir: opts.cachedir });
    const listed = await call("file.list_backups", [path]);
    assert(listed instanceof Map);
    const [location] = [...listed.values()].map((one) => one instanceof Map ? String(one.get("Location")) : "");
    Deno.removeSync(`${root}/d`, { recursive: true });
    const lost = `Unable to restore ${location} to ${path}: [Errno 2] No such file or directory: '${path}'`;
    assertEquals(await call("file.restore_backup", [path, 0]), map({ result: false, comment: lost }));
    Deno.mkdirSync(`${root}/d`);
    const put = `Successfully restored ${location} to ${path}`;
    assertEquals(await call("file.restore_backup", [path, 0]), map({ result: true, comment: put }));
    assertEquals(Deno.readTextFileSync(path), "one");
  }));

Deno.test("a backup that cannot be removed is named, with the system's reason", async () => {
  const root = Deno.makeTempDirSync({ prefix: "backups_" });
  const { removeSync } = Deno;
  try {
    const opts = testOpts({ root_dir: root });
    const { call } = testContext({ opts });
    const path = `${root}/f`;
    Deno.writeTextFileSync(path, "one");
    makeBackup(path, { cachedir: opts.cachedir });
    const listed = await call("file.list_backups", [path]);
    assert(listed instanceof Map);
    const [location] = [...listed.values()].map((one) => one instanceof Map ? String(one.get("Location")) : "");
    // As on a file system that the kernel has made read-only after errors of the disk.
    Deno.removeSync = (which) => {
      throw new Error(`Read-only file system (os error 30): remove '${which}'`);
    };
    const comment = `Unable to remove ${location}: [Errno 30] Read-only file system: '${location}'`;
    assertEquals(await call("file.delete_backup", [path, 0]), map({ result: false, comment }));
    Deno.removeSync = removeSync;
    assertEquals(Deno.readTextFileSync(location), "one");
  } finally {
    Deno.removeSync = removeSync;
    Deno.removeSync(root, { recursive: true });
  }
});

Deno.test("a temporary link that cannot replace a directory, nor be removed, is named besides the first error", async () => {
  const root = Deno.makeTempDirSync({ prefix: "backups_" });
  const { removeSync } = Deno;
  try {
    const { call } = testContext({ opts: testOpts({ root_dir: root }) });
    Deno.mkdirSync(`${root}/d`);
    const symlink = () =>
      call("file.symlink", ["/nowhere", `${root}/d`], map({ atomic: true })).then(() => undefined, (error) => error);
    const plain = await symlink();
    assert(plain instanceof CommandError, String(plain));
    assertEquals(plain.message, `Could not create '${root}/d'`);
    assertEquals(Array.from(Deno.readDirSync(root), ({ name }) => name), ["d"]);
    Deno.removeSync = (which) => {
      throw new Error(`Read-only file system (os error 30): remove '${which}'`);
    };
    const error = await symlink();
    Deno.removeSync = removeSync;
    const [left] = Array.from(Deno.readDirSync(root), ({ name }) => name).filter((name) => name !== "d");
    assert(error instanceof CommandError, String(error));
    assertEquals(
      error.message,
      `Could not create '${root}/d': [Errno 21] Is a directory: '${root}/d'; and could not remove ` +
        `'${root}/${left}': [Errno 30] Read-only file system: '${root}/${left}'`,
    );
    assert(error.cause instanceof Error && error.cause.message.includes("Is a directory"), String(error.cause));
  } finally {
    Deno.removeSync = removeSync;
    Deno.removeSync(root, { recursive: true });
  }
});
