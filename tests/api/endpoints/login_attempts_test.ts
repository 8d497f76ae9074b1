import { LoginAttempts } from "#lib/api/endpoints/login_attempts.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

Deno.test("failures of ten thousand names and addresses are remembered, and no more", () => {
  const attempts = new LoginAttempts(() => 0);
  const [old, recent] = ["192.0.2.1", "192.0.2.2"].map((address) => ({ address, user: "alice" }));
  for (let n = 0; n < 10; n++) for (const who of [old, recent]) attempts.failed(who);
  for (let n = 0; n < 4_999; n++) attempts.failed({ address: "203.0.113.1", user: `user${n}` });
  assert(attempts.waitS(old) > 0);
  // A failure that comes again counts as new.
  attempts.failed(recent);
  for (let n = 4_999; n < 10_000; n++) attempts.failed({ address: "203.0.113.1", user: `user${n}` });
  assertEquals(attempts.waitS(old), 0);
  assert(attempts.waitS(recent) > 0);
});
