/**
 * Calls of the C library on files, processes and passwords, and their errors.
 * @module
 */

import { LibcError } from "#lib/errors.ts";
import { setAclUsers } from "#lib/libc/acl.ts";
import { canCrypt, cryptPassword, cryptPasswordInThread } from "#lib/libc/crypt.ts";
import { copyAttributes, fileSystemFacts, fileTimes, makeNode } from "#lib/libc/inodes.ts";
import { limitProcess } from "#lib/libc/limits.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";

const LINUX = { ignore: Deno.build.os !== "linux" };

function withDirectory(run: (directory: string) => void): void {
  const directory = Deno.makeTempDirSync({ prefix: "inodes_" });
  try {
    run(directory);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
}

Deno.test("a file system has statistics, and a missing path has none", LINUX, () => {
  const facts = fileSystemFacts("/");
  assert(facts !== undefined);
  assert(facts.bsize >= 512 && facts.frsize >= 512 && facts.blocks >= facts.bfree && facts.bfree >= facts.bavail);
  assert(facts.namemax >= 100, "the last field is where it belongs");
  assertEquals(fileSystemFacts("/none/at/all"), undefined);
  assertEquals(fileTimes("/none/at/all", { follow: true }), undefined);
});

Deno.test("a node is not made at an existing path", LINUX, () =>
  withDirectory((directory) => {
    makeNode(`${directory}/pipe`, { kind: "fifo" }, 0o600);
    assertEquals(Deno.lstatSync(`${directory}/pipe`).isFifo, true);
    assertThrows(() => makeNode(`${directory}/pipe`, { kind: "fifo" }, 0o600), LibcError, "mknod");
  }));

Deno.test("a copy gets the access control list of its file", LINUX, () =>
  withDirectory((directory) => {
    for (const name of ["from", "to"]) Deno.writeTextFileSync(`${directory}/${name}`, "", { mode: 0o600 });
    setAclUsers(`${directory}/from`, [12], 4);
    copyAttributes(`${directory}/from`, `${directory}/to`);
    // The group bits are those of the list's mask.
    assertEquals(["from", "to"].map((name) => (Deno.statSync(`${directory}/${name}`).mode ?? 0) & 0o777), [
      0o640,
      0o640,
    ]);
    copyAttributes(`${directory}/none`, `${directory}/to`);
  }));

Deno.test("a process that has ended cannot be limited", LINUX, async () => {
  const child = new Deno.Command("true").spawn();
  await child.status;
  assertThrows(() => limitProcess(child.pid, { core: 0 }), LibcError, "prlimit");
});

Deno.test("a password with a NUL has no hash, because it would end there", { ignore: !canCrypt() }, async () => {
  for (const [password, setting] of [["a\0b", "$6$salt"], ["a", "$6$sa\0lt"]]) {
    assertEquals(cryptPassword(password, setting), undefined);
    assertEquals(await cryptPasswordInThread(password, setting), undefined);
  }
  assertEquals(cryptPassword("a", "$6$salt"), await cryptPasswordInThread("a", "$6$salt"));
  assertEquals(cryptPassword("a", "*no method"), undefined);
});
