/**
 * The start of a master of a cluster without the database.
 * @module
 */

import { assert, assertStringIncludes } from "#tests/support/assert.ts";
import { answerOf, clusterTest, refusal, valueAt } from "#tests/support/cluster/cluster_site.ts";
import { eventually } from "#tests/support/fleet/fleet.ts";

clusterTest("a master that knows its cluster starts without the database, and enters when it is back", {
  masters: 1,
}, async ({ masters: [a], server }) => {
  await a.stopMaster();
  await server.crash();
  await a.startMaster();
  assert(a.logs.some((line) => line.includes("starts without the database")));
  await server.restart();
  await eventually(async () => valueAt(await answerOf(a, "cluster.members"), "master-a", "alive") === true, {
    what: "its sign of life",
  });
  const { cachedir } = a.masterOpts;
  await a.stopMaster();
  await server.crash();
  Deno.removeSync(`${cachedir}/cluster`, { recursive: true });
  assertStringIncludes(await refusal(a), "the first start in the cluster prod needs the database");
});
