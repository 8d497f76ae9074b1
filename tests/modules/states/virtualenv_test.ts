import { assertEquals } from "#tests/support/assert.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { callState } from "#tests/support/calls/state_call.ts";

testRecordedCases("states", "virtualenv");

Deno.test("virtualenv.manage is virtualenv.managed", async () => {
  const name = "/nonexistent/environment";
  for (const fun of ["virtualenv.manage", "virtualenv.managed"]) {
    const result = await callState(fun, { name }, { test: true });
    assertEquals([result.get("result"), result.get("comment")], [null, `Virtualenv ${name} is set to be created`]);
  }
});
