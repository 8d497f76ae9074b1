/**
 * A minion of a cluster that replaces its own key pair.
 * @module
 */

import { assertEquals, assertNotEquals } from "#tests/support/assert.ts";
import { clusterTest, moveMinion } from "#tests/support/cluster/cluster_site.ts";
import { eventually } from "#tests/support/eventually.ts";
import { map } from "#lib/values/value.ts";

clusterTest("saltutil.rotate_key at one master is known at the other: it has the new key, and serves the minion", {
  masters: 2,
}, async ({ masters: [a, b] }) => {
  await a.untilServing(["web1"], () => a.startMinion("web1"));
  await eventually(() => b.keys.state("web1") === "accepted", { what: "the key at the other master" });
  const before = b.keys.get("web1", "accepted");
  await a.saltJson("web1", "saltutil.rotate_key");
  const pki = a.minionOpts("web1").pki_dir, own = Deno.readTextFileSync(`${pki}/minion.pub`).trim();
  assertNotEquals(own, before);
  assertEquals(a.keys.get("web1", "accepted"), own);
  await eventually(() => b.keys.get("web1", "accepted") === own, { what: "the new key at the other master" });
  await a.stopMinion("web1");
  await moveMinion("web1", a, b);
  assertEquals(await b.saltJson("web1", "test.ping"), map({ web1: true }));
});
