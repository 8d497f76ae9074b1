import { assertEquals } from "#tests/support/assert.ts";
import { scriptedState } from "#tests/support/calls/state_call.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("states", "pyenv");

Deno.test("pyenv.absent: a Python that stays is a failure", async () => {
  const answers = {
    "pyenv.is_installed": true,
    "pyenv.default": "3.9.1",
    "pyenv.versions": ["3.9.1"],
    "pyenv.uninstall_python": false,
  };
  const given = await scriptedState("pyenv.absent", { name: "python-3.9.1" }, answers);
  assertEquals([given.result, given.comment, given.changes], [false, "Failed to uninstall python", new Map()]);
});
