import type { Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { answeringContext, resultOrError, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("execution", "system");

const minion = (answers: Readonly<Record<string, Value>>, options: Readonly<Record<string, Value>> = {}) =>
  answeringContext(answers, { opts: testOpts(options) });

Deno.test("system.set_reboot_required_witnessed and its getter are for NI Linux Real-Time alone", async () => {
  const context = minion({});
  for (const name of ["set_reboot_required_witnessed", "get_reboot_required_witnessed"]) {
    assertEquals(await resultOrError(context, `system.${name}`), `system.${name} is for NI Linux Real-Time alone`);
  }
});
