import { InvocationError } from "#lib/errors.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { map } from "#lib/values/value.ts";
import { scriptedState } from "#tests/support/calls/state_call.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("states", "rabbitmq_policy");

Deno.test("rabbitmq_policy.present: a definition that is no JSON is refused, and changes no policy", async () => {
  const policy = { pattern: "^a", definition: "{}", priority: 0 };
  const calls: unknown[] = [];
  const present = (definition: unknown) =>
    scriptedState("rabbitmq_policy.present", { name: "ha", pattern: "^a", definition }, {
      "rabbitmq.list_policies": () => map({ "/": { ha: policy } }),
      "rabbitmq.set_policy": (args) => (calls.push(args), map({ Set: "Set" })),
    });
  await assertRejects(() => present("{ha"), InvocationError, "The definition of the policy is no JSON: ");
  assertEquals(calls, []);
  assertEquals((await present("{}")).comment, "Policy / ha is already present");
});
