import { map } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { callState } from "#tests/support/calls/state_call.ts";

testRecordedCases("states", "environ");

Deno.test("environ.setenv with clear_all changes all other variables", async () => {
  const name = "SALT_STATE_KEPT";
  const result = await callState("environ.setenv", { name, value: "x", clear_all: true, false_unsets: true }, {
    test: true,
  });
  const changes = result.get("changes");
  assert(changes instanceof Map);
  assertEquals(changes.get(name), "x");
  assertEquals(changes.size, Object.keys(Deno.env.toObject()).length + 1);
  assert([...changes].every(([key, value]) => key === name || value === null));
  assertEquals(result.get("comment"), "Environ values will be changed");
});

Deno.test("environ.setenv sets a variable of this process; the second run changes nothing", async () => {
  const name = "SALT_STATE_SET";
  try {
    const first = await callState("environ.setenv", { name, value: "x" });
    assertEquals([first.get("result"), first.get("changes")], [true, map({ [name]: "x" })]);
    assertEquals(Deno.env.get(name), "x");
    const again = await callState("environ.setenv", { name, value: "x" });
    assertEquals(again.get("comment"), "Environ values were already set with the correct values");
  } finally {
    Deno.env.delete(name);
  }
});
