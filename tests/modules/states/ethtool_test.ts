import { assertEquals } from "#tests/support/assert.ts";
import { map } from "#lib/values/value.ts";
import { scriptedState } from "#tests/support/calls/state_call.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("states", "ethtool");

Deno.test("ethtool.ring: what a device does not take is a failure, and no change", async () => {
  for (const answer of ["Not supported", "Invalid arguments"]) {
    const answers = { "ethtool.show_ring": () => map({ rx: 256, rx_max: 512 }), "ethtool.set_ring": answer };
    const given = await scriptedState("ethtool.ring", { name: "eth0", rx: "max" }, answers);
    const text = `Device eth0 ring parameters could not be updated: ${answer}`;
    assertEquals([given.result, given.comment, given.changes], [false, text, new Map()]);
  }
});
