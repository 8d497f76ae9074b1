/**
 * A link's sign-in, with honest answers of a master and answers of an impostor.
 * @module
 */

import { SignInError } from "#lib/errors.ts";
import { encode } from "#lib/values/msgpack.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { FULL, PENDING, REJECTED, signInsWith, start, WRONG } from "#tests/support/fleet/minion_link.ts";

Deno.test("a minion whose key is pending signs in again until it is accepted, and logs that it waits", async () => {
  await using fixture = await start({ script: signInsWith(PENDING, PENDING) });
  const credentials = await fixture.link.signIn(fixture.never);
  assertEquals(credentials, fixture.link.credentials);
  assertEquals(fixture.master.count("_auth"), 3);
  const text = "ERROR The Salt Master has cached the public key for this node, this salt minion will wait for " +
    "0.01 seconds before attempting to re-authenticate. To accept it, on the master: salt-key -a web1";
  assertEquals(fixture.lines.filter((line) => line.startsWith("ERROR")), [text, text]);
});

Deno.test("the wait doubles up to acceptance_wait_time_max, if that is larger", async () => {
  await using fixture = await start({
    script: signInsWith(PENDING, FULL, PENDING, PENDING),
    timeouts: { acceptanceWaitMaxMs: 30 },
  });
  await fixture.link.signIn(fixture.never);
  const waits = fixture.lines.map((line) => / (0\.\d+) seconds/.exec(line)?.[1]).filter((wait) => wait !== undefined);
  assertEquals(waits, ["0.01", "0.02", "0.03", "0.03"]);
});

Deno.test("a rejected minion ends with exit code 77 after its wait", async () => {
  await using fixture = await start({ script: signInsWith(PENDING, REJECTED), timeouts: { rejectedWaitMs: [50, 60] } });
  const started = performance.now();
  const error = await assertRejects(() => fixture.link.signIn(fixture.never), SignInError, "rejected");
  assertEquals(error.exitCode, 77);
  assert(performance.now() - started >= 50);
});

Deno.test("a rejected minion with rejected_retry signs in again", async () => {
  await using fixture = await start({ script: signInsWith(REJECTED, REJECTED), timeouts: { rejectedRetry: true } });
  await fixture.link.signIn(fixture.never);
  assertEquals(fixture.master.count("_auth"), 3);
});

for (
  const [name, lie, timeouts] of [
    ["pending", PENDING, {}],
    ["not taken because the master is full", FULL, {}],
    ["rejected, with rejected_retry,", REJECTED, { rejectedRetry: true }],
  ] as const
) {
  Deno.test(`salt-call ends with exit code 2 if its key is still ${name} after one wait`, async () => {
    await using fixture = await start({
      script: signInsWith(lie, lie, lie),
      timeouts: { failOnPending: true, ...timeouts },
    });
    const error = await assertRejects(() => fixture.link.signIn(fixture.never), SignInError, "has the minion key been");
    assertEquals([error.exitCode, fixture.master.count("_auth")], [2, 2]);
    assertEquals(fixture.lines.filter((line) => line.startsWith("ERROR")).length, 1);
  });
}

Deno.test("an impostor's answers cause no tight loop, and the real master is accepted afterwards", async () => {
  await using fixture = await start({
    script: signInsWith(WRONG, WRONG, WRONG),
    timeouts: { authTimeoutMs: 1_000 },
  });
  const started = performance.now();
  await fixture.link.signIn(fixture.never);
  // Deno's timers may fire a few milliseconds early, so three waits of a second take slightly less.
  assert(performance.now() - started >= 2_500, `asked four times in ${performance.now() - started} ms`);
  const refusals = fixture.lines.filter((line) => line.startsWith("CRITICAL Refused the answer of tcp://127.0.0.1:"));
  assertEquals(refusals.length, 3);
});

Deno.test("answers of an impostor, invalid answers and random bytes are refused when the tries are over", async () => {
  const nonsense = [encode("bad load", "wire"), new Uint8Array([0xc1]), new Uint8Array()];
  for (const frame of nonsense) {
    await using fixture = await start({ script: () => () => frame, timeouts: { authTimeoutMs: 20, masterTries: 1 } });
    const error = await assertRejects(
      () => fixture.link.signIn(fixture.never),
      SignInError,
      "Unable to sign_in to master",
    );
    assertEquals(error.exitCode, 1);
  }
});

Deno.test("concurrent sign-ins are combined into one", async () => {
  await using fixture = await start();
  const all = await Promise.all([1, 2, 3].map(() => fixture.link.signIn(fixture.never)));
  assertEquals(all.every((credentials) => credentials === all[0]), true);
  assertEquals(fixture.master.count("_auth"), 1);
});
