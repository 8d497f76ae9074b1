import type { Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { answeringContext, resultOrError, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("execution", "random");

const minion = (answers: Readonly<Record<string, Value>>, options: Readonly<Record<string, Value>> = {}) =>
  answeringContext(answers, { opts: testOpts(options) });

Deno.test("random.shadow_hash reports a method that the host's libcrypt does not know", async () => {
  const result = await resultOrError(minion({}), "random.shadow_hash", ["a:b", "secret"]);
  assertEquals(result, "This host's libcrypt is missing, or does not know the method 'sha512'");
});

Deno.test("random.rand_int, sample and shuffle without a seed differ from call to call", async () => {
  const call = (fun: string, args: Value[]) => resultOrError(minion({}), `random.${fun}`, args);
  const numbers = await Promise.all(Array.from({ length: 20 }, () => call("rand_int", [1, 1_000_000])));
  assertEquals(numbers.every((number) => Number(number) >= 1 && Number(number) <= 1_000_000), true);
  assertEquals(new Set(numbers.map(String)).size > 1, true);
  const items: Value[] = Array.from({ length: 30 }, (_, i) => `item ${i}`);
  const shuffled = [await call("shuffle", [items]), await call("shuffle", [items])];
  for (const one of shuffled) assertEquals([...one as string[]].sort(), [...items as string[]].sort());
  assertEquals(String(shuffled[0]) === String(shuffled[1]), false);
});
