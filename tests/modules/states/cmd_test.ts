import { assertEquals } from "#tests/support/assert.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { callState } from "#tests/support/calls/state_call.ts";

testRecordedCases("states", "cmd");

Deno.test("a state of a command warns of an argument that no function of it has", async () => {
  const ret = await callState("cmd.run", { name: "true", tmeout: 5 }, { test: false });
  assertEquals(ret.get("warnings"), [
    "cmd.run_all takes no argument 'tmeout', so it has no effect; did you mean timeout?",
  ]);
});
