/**
 * Passwords of PostgreSQL as Salt 3008.3 makes them: `_scram_sha_256` and `_md5_password` of salt/modules/postgres.py.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { encryptedPassword, isPassword, passwordMethod, scramPassword } from "#lib/host/postgres/postgres_passwords.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";

const SALT = new TextEncoder().encode("0123456789abcdef");
const SECRET = "SCRAM-SHA-256$4096:MDEyMzQ1Njc4OWFiY2RlZg==$bpSY5Ze9NUH+I35LC3gVq+DpBfK46iXBxvhAKqVu9pE=:" +
  "VpYlBuxyzeCI1KnctrefdljpB1mk3Gp7sBI/t11+NkQ=";

Deno.test("scramPassword() returns what Salt does, also for letters that SASLprep changes", () => {
  assertEquals(scramPassword("secret", { salt: SALT }), SECRET);
  assertEquals(
    scramPassword("pass\u00e9 \u00a0\u00adx\uff21", { salt: SALT, iterations: 1000 }),
    "SCRAM-SHA-256$1000:MDEyMzQ1Njc4OWFiY2RlZg==$GBmfadlXn9MoyPeMbzNAeWqrs9MVVx2kwZwVdU9HDLE=:" +
      "9uBuJ0aLVKeYxEQ8NvBQBX13eseVy5sPbYtBpKnac4E=",
  );
});

Deno.test("encryptedPassword() keeps encrypted passwords, and isPassword() verifies its results", () => {
  assertEquals(encryptedPassword("jim", "sec'ret", "md5"), "md507ebf599bfb6eb31897e8ace947a332e");
  assertEquals(encryptedPassword("jim", "md5abc", "md5"), "md5abc");
  assertEquals(encryptedPassword("jim", SECRET, "scram-sha-256"), SECRET);
  assertEquals(encryptedPassword("jim", "plain", false), "plain");
  const fresh = encryptedPassword("jim", "secret", "scram-sha-256");
  assert(fresh !== SECRET && isPassword("jim", "secret", fresh, "scram-sha-256"));
  assertEquals(isPassword("jim", "secret", SECRET, "scram-sha-256"), true);
  assertEquals(isPassword("jim", "other", SECRET, "scram-sha-256"), false);
  assertEquals(isPassword("jim", "secret", "md5abc", "scram-sha-256"), false);
  assertEquals([SECRET, "other"].map((one) => isPassword("jim", one, SECRET, "scram-sha-256")), [true, false]);
  const stored = "md507ebf599bfb6eb31897e8ace947a332e";
  assertEquals(["sec'ret", stored, "secret"].map((one) => isPassword("jim", one, stored, "md5")), [true, true, false]);
  assertEquals(["plain", "other"].map((one) => isPassword("jim", one, "plain", false)), [true, false]);
});

Deno.test("a password with a control character is rejected", () => {
  for (const password of ["a\nb", "\x7f", "\u0085x"]) {
    assertThrows(
      () => scramPassword(password, { salt: SALT }),
      InvocationError,
      "A password has no control characters",
    );
  }
});

Deno.test("passwordMethod() accepts Salt's values", () => {
  assertEquals([null, true, "md5", "scram-sha-256", false].map(passwordMethod), [
    "md5",
    "md5",
    "md5",
    "scram-sha-256",
    false,
  ]);
  assertThrows(() => passwordMethod("rot13"), InvocationError, "Unknown password algorithm: rot13");
});
