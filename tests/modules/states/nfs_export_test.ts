import { assertEquals } from "#tests/support/assert.ts";
import { scriptedState } from "#tests/support/calls/state_call.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("states", "nfs_export");

Deno.test("nfs_export.present touches no export for a list without clients, or with one that has no hosts", async () => {
  const text = "Each of 'clients' must have 'hosts'";
  for (const clients of ["10.0.0.0/8", [{ options: ["rw"] }], [{ hosts: "a" }, { hosts: "" }]]) {
    const given = await scriptedState("nfs_export.present", { name: "/srv", clients }, {});
    assertEquals([given.result, given.comment, given.calls], [false, text, []]);
  }
});
