import { TimeBudget } from "#lib/os/time_budget.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { strictTest } from "#tests/support/strict.ts";

const never = new Promise<never>(() => {});

strictTest("a budget allows what ends in time, and no more; what fails in time fails", async () => {
  const budget = new TimeBudget(600_000);
  assertEquals(await budget.allows(Promise.resolve()), true);
  assertEquals(await new TimeBudget(1).allows(never), false);
  assertEquals(await budget.less(600_000).allows(never), false);
  await assertRejects(() => budget.allows(Promise.reject(new RangeError("wrong"))), RangeError, "wrong");
});

strictTest("what is left never grows, and is never less than nothing", () => {
  const budget = new TimeBudget(600_000);
  const part = budget.less(599_000);
  assert(part.leftMs <= 1_000 && part.leftMs < budget.leftMs && budget.leftMs <= 600_000);
  assertEquals([new TimeBudget(-1).leftMs, part.less(5_000).leftMs], [0, 0]);
});
