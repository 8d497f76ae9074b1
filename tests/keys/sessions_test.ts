/** @module */
import { generateKeyString } from "#lib/crypto/crypticle.ts";
import { SessionKeys } from "#lib/keys/sessions.ts";
import { assert, assertEquals, assertNotEquals, assertThrows } from "#tests/support/assert.ts";
import { withReplaced } from "#tests/support/replaced.ts";

const DAY_MS = 86_400_000;

function inTempDir(run: (root: string) => void): void {
  const root = Deno.makeTempDirSync({ prefix: "sessions_" });
  try {
    run(root);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

Deno.test("a session is created at the first sign-in, in a file that only its owner may read", () =>
  inTempDir((root) => {
    const sessions = new SessionKeys(root, DAY_MS);
    assertEquals(sessions.crypticle("web1"), undefined);
    const text = sessions.forSignIn("web1");
    assertEquals(text.length, 76);
    assertEquals(Deno.readTextFileSync(`${root}/sessions/web1`), text);
    assertEquals((Deno.statSync(`${root}/sessions/web1`).mode ?? 0) & 0o777, 0o600);
    assertEquals((Deno.statSync(`${root}/sessions`).mode ?? 0) & 0o777, 0o700);
    assertEquals(sessions.forSignIn("web1"), text);
    assertEquals(sessions.crypticle("web1")?.keyString, text);
    assertNotEquals(sessions.forSignIn("web2"), text);
  }));

Deno.test("a session survives restarts and is shared by all workers", () =>
  inTempDir((root) => {
    const text = new SessionKeys(root, DAY_MS).forSignIn("web1");
    const other = new SessionKeys(root, DAY_MS);
    assertEquals(other.crypticle("web1")?.keyString, text);
    assertEquals(other.forSignIn("web1"), text);
  }));

Deno.test("a session older than its lifetime is replaced at the next sign-in, not earlier", () =>
  inTempDir((root) => {
    const sessions = new SessionKeys(root, 60_000);
    const other = new SessionKeys(root, 60_000);
    const text = sessions.forSignIn("web1");
    assertEquals(other.crypticle("web1")?.keyString, text);
    const old = new Date(Date.now() - 120_000);
    Deno.utimeSync(`${root}/sessions/web1`, old, old);
    assertEquals(sessions.crypticle("web1")?.keyString, text);
    const fresh = sessions.forSignIn("web1");
    assertNotEquals(fresh, text);
    assertEquals(sessions.crypticle("web1")?.keyString, fresh);
    // The other worker detects it by the file's modification time.
    assertEquals(other.crypticle("web1")?.keyString, fresh);
  }));

Deno.test("a session is old from its lifetime on, to the millisecond", () => {
  const root = Deno.makeTempDirSync({ prefix: "sessions_" });
  return withReplaced(Date, { name: "now", by: () => 1_000_060_000 }, () => {
    const sessions = new SessionKeys(root, 60_000);
    sessions.forSignIn("web1");
    const isOldAt = (mtimeMs: number) => {
      Deno.utimeSync(`${root}/sessions/web1`, new Date(mtimeMs), new Date(mtimeMs));
      return sessions.isOld("web1");
    };
    assertEquals([isOldAt(1_000_000_000), isOldAt(1_000_000_001)], [true, false]);
  }).finally(() => Deno.removeSync(root, { recursive: true }));
});

Deno.test("a session that one thread has read is shared in memory until its file changes", () =>
  inTempDir((root) => {
    const sessions = new SessionKeys(root, DAY_MS);
    const text = sessions.forSignIn("web1");
    const path = `${root}/sessions/web1`;
    // A change that no service makes: only the bytes differ.
    const { mtime, ino } = Deno.statSync(path);
    const changed = generateKeyString();
    Deno.writeTextFileSync(path, changed);
    Deno.utimeSync(path, mtime ?? 0, mtime ?? 0);
    assertEquals(Deno.statSync(path).ino, ino);
    assertEquals(sessions.crypticle("web1")?.keyString, text);
    assertEquals(new SessionKeys(root, DAY_MS, sessions.memory).crypticle("web1")?.keyString, text);
    const alone = new SessionKeys(root, DAY_MS);
    assertEquals(alone.crypticle("web1")?.keyString, changed);
    assert(alone.crypticle("web1") === alone.crypticle("web1"), "the same object while the file is the same");
    // Another file with the same modification time.
    Deno.writeTextFileSync(`${path}.new`, changed);
    Deno.renameSync(`${path}.new`, path);
    Deno.utimeSync(path, mtime ?? 0, mtime ?? 0);
    assertEquals(sessions.crypticle("web1")?.keyString, changed);
  }));

Deno.test("a removed session decrypts nothing in any worker", () =>
  inTempDir((root) => {
    const sessions = new SessionKeys(root, DAY_MS);
    const other = new SessionKeys(root, DAY_MS);
    sessions.forSignIn("web1");
    assert(other.crypticle("web1") !== undefined);
    sessions.remove("web1");
    sessions.remove("web1");
    assertEquals([sessions.crypticle("web1"), other.crypticle("web1")], [undefined, undefined]);
  }));

Deno.test("after the removal of the directory, the next sign-in creates it again", () =>
  inTempDir((root) => {
    const sessions = new SessionKeys(root, DAY_MS);
    const text = sessions.forSignIn("web1");
    Deno.removeSync(`${root}/sessions`, { recursive: true });
    assertEquals(sessions.crypticle("web1"), undefined);
    assertNotEquals(sessions.forSignIn("web1"), text);
  }));

Deno.test("an unreadable session is an error, and not treated as missing", () =>
  inTempDir((root) => {
    const sessions = new SessionKeys(root, DAY_MS);
    sessions.forSignIn("web1");
    Deno.removeSync(`${root}/sessions`, { recursive: true });
    Deno.writeTextFileSync(`${root}/sessions`, "no directory");
    for (const look of [() => sessions.crypticle("web1"), () => sessions.forSignIn("web1")]) {
      assertThrows(look, Deno.errors.NotADirectory);
    }
  }));

Deno.test("an invalid minion id names no file", () =>
  inTempDir((root) => {
    Deno.writeTextFileSync(`${root}/secret`, "x");
    const sessions = new SessionKeys(root, DAY_MS);
    for (const id of ["", ".", "..", "../secret", "/etc/passwd", "a\0b", "x".repeat(300)]) {
      assertEquals(sessions.crypticle(id), undefined, id);
      sessions.remove(id);
    }
    assertEquals(Deno.readTextFileSync(`${root}/secret`), "x");
  }));

Deno.test("a session file without a key decrypts nothing, and the next sign-in makes a new one", () =>
  inTempDir((root) => {
    // The last one lacks only its padding.
    for (const text of ["", "rubbish", "x".repeat(76), "\xff".repeat(100), generateKeyString().slice(0, -1)]) {
      const sessions = new SessionKeys(root, DAY_MS);
      Deno.writeTextFileSync(`${root}/sessions/web1`, text);
      assertEquals(sessions.crypticle("web1"), undefined);
      assertEquals(sessions.forSignIn("web1").length, 76);
      assert(sessions.crypticle("web1") !== undefined);
      sessions.remove("web1");
    }
  }));
