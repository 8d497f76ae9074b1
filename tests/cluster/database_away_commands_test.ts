/**
 * The commands of a cluster whose database is away.
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { clusterTest } from "#tests/support/cluster/cluster_site.ts";

clusterTest("with the database away the commands of the cluster say so in a sentence, with exit code 75", {
  masters: 1,
}, async ({ masters: [a], server }) => {
  await server.crash();
  const commands = [
    ["members"],
    ["leases"],
    ["forget", "master-b"],
    ["rotate", "key=publish"],
    ["rotate", "key=master"],
  ];
  for (const [name, ...words] of commands) {
    const { code, err, out } = await a.saltRun(`cluster.${name}`, ...words);
    assertEquals(code, 75, `${name}: ${err}${out}`);
    assertStringIncludes(err + out, "The database of the cluster is away");
    assert(!(err + out).includes("    at "), "no stack");
  }
});
