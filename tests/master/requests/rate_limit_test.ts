import { RateLimit, rateMemory } from "#lib/master/requests/rate_limit.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("the limit per second applies to all threads together; the first refusal is marked", () => {
  const memory = rateMemory();
  const [one, other] = [new RateLimit(3, memory), new RateLimit(3, memory)];
  const turns = [one, other, one, other, one].map((limit) => limit.take(1_000_500));
  assertEquals(turns, ["granted", "granted", "granted", "first refused", "refused"]);
  assertEquals([one.take(1_001_000), other.take(1_001_999)], ["granted", "granted"]);
  assertEquals([other.take(1_001_999), other.take(1_001_999)], ["granted", "first refused"]);
});

Deno.test("a limit of 0 means no limit", () => {
  const limit = new RateLimit(0);
  for (let n = 0; n < 1_000; n++) assertEquals(limit.take(0), "granted");
});
