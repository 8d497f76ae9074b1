import { assertEquals } from "#tests/support/assert.ts";
import { map } from "#lib/values/value.ts";
import { scriptedState } from "#tests/support/calls/state_call.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("states", "postgres_cluster");

Deno.test("postgres_cluster.absent: a cluster that stays is a failure with the program's reason", async () => {
  const given = await scriptedState("postgres_cluster.absent", { version: "15", name: "main" }, {
    "postgres.cluster_exists": true,
    "postgres.cluster_remove": () => map({ retcode: 2, stderr: "it is in use" }),
  });
  assertEquals([given.result, given.comment, given.changes], [false, "it is in use", new Map()]);
});
