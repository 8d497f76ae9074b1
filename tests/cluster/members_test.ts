/**
 * The members of a cluster: what the runner shows, who holds the leases, and the publish key that all take.
 * @module
 */

import { isMap, map } from "#lib/values/value.ts";
import { VERSION } from "#lib/version.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { answerOf, clusterTest, valueAt } from "#tests/support/cluster/cluster_site.ts";
import { eventually, type Fleet } from "#tests/support/fleet/fleet.ts";

clusterTest("the runner shows members and leases, and forgets one that ended", {}, async ({ masters: [a, b] }) => {
  const names = ["master-a", "master-b"];
  const seen = await eventually(async () => {
    const members = await answerOf(a, "cluster.members");
    return valueAt(members, "master-b", "alive") === true ? members : undefined;
  }, { what: "both masters" });
  assertEquals(isMap(seen) ? [...seen.keys()] : seen, names);
  const first = valueAt(seen, "master-a");
  assert(isMap(first));
  assertEquals([...first.keys()], ["alive", "address", "version", "protocol", "since", "minions", "lag_ms", "outbox"]);
  assertEquals(["address", "version", "protocol", "minions", "outbox"].map((key) => valueAt(first, key)), [
    "127.0.0.1",
    VERSION,
    1,
    0,
    0,
  ]);
  const holders = async (by: Fleet) => {
    const leases = await answerOf(by, "cluster.leases");
    return ["maintenance", "reactor", "schedule"].map((name) => valueAt(leases, name, "master"));
  };
  assertEquals(await holders(b), ["master-a", "master-a", "master-a"]);
  assertStringIncludes((await b.saltRun("cluster.forget", "master-a")).out, "is alive: stop it first");
  await a.stopMaster();
  // It gave its leases up when it ended.
  await eventually(async () => (await holders(b)).every((name) => name === "master-b"), { what: "the other holder" });
  assertEquals(await answerOf(b, "cluster.forget", "master-a"), true);
  const left = await answerOf(b, "cluster.members");
  assertEquals(isMap(left) ? [...left.keys()] : left, ["master-b"]);
  assertStringIncludes((await b.saltRun("cluster.forget", "master-a")).out, "no master of the name master-a");
});

clusterTest("all masters take a new publish key", {}, async ({ masters: [a, b] }) => {
  await b.untilServing(["web1"], () => b.startMinion("web1", { master: "127.0.0.2" }));
  assertEquals(await answerOf(a, "cluster.rotate", "key=publish"), 2);
  await eventually(() => [a, b].every(({ logs }) => logs.some((line) => line.includes("the key of generation 2"))), {
    what: "both masters with the new key",
  });
  assertEquals(await b.saltJson("web1", "test.ping"), map({ web1: true }));
  assertStringIncludes((await b.saltRun("cluster.rotate", "key=other")).out, "key must be publish");
});

clusterTest("the holder of maintenance renews a publish key that is old, once for all", {
  master: { publish_session: 4, loop_interval: 0.2 },
}, async ({ masters, server }) => {
  const taken = masters.map(({ logs }) => () =>
    logs.flatMap((line) => /with the key of generation (\d+)/.exec(line)?.[1] ?? [])
  );
  // A master that starts slowly begins with a later generation.
  await eventually(() => taken[0]().filter((generation) => taken[1]().includes(generation)).length >= 2, {
    what: "two keys that both masters have taken",
  });
  const asked = masters.map(({ logs }) => logs.some((line) => line.includes("A new publish key for the cluster")));
  assertEquals(asked, [true, false]);
  // Two generations count; this fails in the server if there are more.
  await server.sql(`do $$ begin
    if (select count(*) from salt.secrets where name = 'publish') > 2 then raise exception 'too many keys'; end if;
  end $$;`);
});
