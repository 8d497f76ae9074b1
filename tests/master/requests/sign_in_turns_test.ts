import { RateLimit } from "#lib/master/requests/rate_limit.ts";
import { signInMemory, SignInTurns } from "#lib/master/requests/sign_in_turns.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

const START = 1_000_000 * 60_000;

/** Two threads' views of the same turns. `perSecond` limits the turns of minions beyond their own. */
function turns(perSecond: number): SignInTurns[] {
  const [memory, others] = [signInMemory(), new RateLimit(perSecond)];
  return [new SignInTurns(others, memory), new SignInTurns(others, memory)];
}

Deno.test("the same request is answered three times, counted over all threads, and then not for hours", () => {
  const [one, other] = turns(1_000);
  const verdicts = [one, other, one, other, one].map((each) => each.take("web1", "n1", START));
  assertEquals(verdicts, ["granted", "granted", "granted", "first refused", "refused"]);
  for (let hour = 1; hour < 48; hour++) assertEquals(one.take("web1", "n1", START + hour * 3_600_000), "refused");
  // Other requests of the minion, and the same nonce of another minion, are not affected.
  assertEquals([one.take("web1", "n2", START), one.take("web2", "n1", START)], ["granted", "granted"]);
});

Deno.test("minions that sign in more than ten times a minute share a limit, and do not delay others", () => {
  const [one, other] = turns(5);
  for (let n = 0; n < 10; n++) assertEquals((n % 2 ? one : other).take("web1", `n${n}`, START), "granted");
  for (let n = 10; n < 15; n++) assertEquals(one.take("web1", `n${n}`, START), "granted");
  assertEquals(other.take("web1", "n15", START), "first refused");
  for (let n = 16; n < 10_000; n++) assertEquals(one.take("web1", `n${n}`, START), "refused");
  assertEquals(one.take("web2", "x", START), "granted");
  // The next second, and the next minute.
  assertEquals(one.take("web1", "y0", START + 1_000), "granted");
  for (let n = 0; n < 10; n++) assertEquals(one.take("web1", `z${n}`, START + 60_000), "granted");
});

Deno.test("a replay does not count against the minion's limit", () => {
  const [one] = turns(1);
  for (let n = 0; n < 1_000; n++) one.take("web1", "recorded", START);
  for (let n = 0; n < 7; n++) assertEquals(one.take("web1", `own${n}`, START), "granted");
});

Deno.test("ten thousand minions sign in twice at the same time, and all are granted", () => {
  const [one, other] = turns(1);
  for (let n = 0; n < 10_000; n++) {
    for (const nonce of ["a", "b"]) {
      assertEquals((n % 3 ? one : other).take(`web${n}`, `${nonce}${n}`, START), "granted");
    }
  }
});

Deno.test("without a limit only replays are refused; a request without a nonce is never a replay", () => {
  const [one] = turns(0);
  for (let n = 0; n < 100; n++) assertEquals(one.take("web1", undefined, START), "granted");
  for (let n = 0; n < 3; n++) assertEquals(one.take("web1", "", START), "granted");
  assert(one.take("web1", "", START) !== "granted");
});
