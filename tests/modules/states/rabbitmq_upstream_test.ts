import { assertEquals } from "#tests/support/assert.ts";
import { map } from "#lib/values/value.ts";
import { scriptedState } from "#tests/support/calls/state_call.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("states", "rabbitmq_upstream");

Deno.test("rabbitmq_upstream.present writes a definition anew that is no JSON", async () => {
  const given = await scriptedState("rabbitmq_upstream.present", { name: "up", uri: "amqp://there" }, {
    "rabbitmq.list_upstreams": () => map({ up: "{broken" }),
    "rabbitmq.set_upstream": true,
  });
  assertEquals([given.result, given.comment], [true, 'Upstream "up" updated.']);
  assertEquals(given.calls.at(-1), "rabbitmq.set_upstream up");
});
