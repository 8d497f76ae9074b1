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
