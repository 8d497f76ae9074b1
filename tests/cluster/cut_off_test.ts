/**
 * A master that is cut off from the database alone: it counts its leases as lost, another takes them, and it is back
 * when the way is.
 * @module
 */

import { LeaseFlags } from "#lib/cluster/lease_flags.ts";
import { ClusterMembers } from "#lib/cluster/cluster_members.ts";
import { PostgresCluster } from "#lib/cluster/postgres_cluster.ts";
import { register } from "#lib/cluster/registration.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { connectDatabase } from "#lib/stores/postgres_connection.ts";
import { postgresOptions } from "#lib/stores/postgres_options.ts";
import { makeSchema } from "#lib/stores/postgres_schema.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { SilentProxy } from "#tests/support/servers/silent_proxy.ts";
import { serverProgram, startPostgres } from "#tests/support/database_servers.ts";
import { eventually } from "#tests/support/eventually.ts";

const LEASE_MS = 2_000;

/** One member, as the Cluster thread of a master makes it. */
async function member(name: string, port: number) {
  const place = postgresOptions({ postgresql: map({ host: "127.0.0.1", port, connect_timeout: 1 }) });
  const client = await connectDatabase(place, { statementMs: 10_000, onEnd: () => {} });
  await makeSchema(client, place.schema, { keepSeconds: 86_400, nowMs: Date.now() });
  const applicant = { name, address: "127.0.0.1", leaseMs: LEASE_MS, last: undefined, incarnation: Date.now() * 1000 };
  const identity = await register(client, place.schema, applicant);
  await client.end();
  const flags = new LeaseFlags();
  const cluster = new PostgresCluster({ place, identity, waitMs: 500, leaseMs: LEASE_MS, log: SILENT_LOGGER });
  const facts = () => ({ minions: 0, outbox: 0 });
  const members = new ClusterMembers({ cluster, flags, applicant, facts, log: SILENT_LOGGER });
  const looks = { count: 0 };
  cluster.follow("p", () => cluster.read(async (client) => void await client.query(`select ${++looks.count}`)));
  return {
    flags,
    cluster,
    looks,
    async [Symbol.asyncDispose]() {
      await members.close();
      await cluster.close();
    },
  };
}

const missing = serverProgram("postgres") === undefined;

Deno.test({
  name: `a master that is cut off from the database knows that its leases are lost, and comes back${
    missing ? " (skipped: there is no postgres)" : ""
  }`,
  ignore: missing,
  async fn() {
    await using server = await startPostgres();
    await using proxy = new SilentProxy(server.port);
    await using a = await member("master-a", proxy.port);
    await eventually(() => a.flags.holds("reactor"), { what: "the lease of a" });
    await using b = await member("master-b", server.port);
    await eventually(() => b.cluster.peers.size === 1, { what: "that b sees a" });
    assert(!b.flags.holds("reactor"));
    proxy.cut();
    let both = false;
    await eventually(() => {
      const [first, second] = [a.flags.holds("reactor"), b.flags.holds("reactor")];
      both ||= first && second;
      return second;
    }, { what: "the lease of b", everyMs: 10 });
    assert(!both, "two masters hold the lease at the same time");
    assert(!a.flags.holds("reactor"));
    await eventually(() => a.cluster.away, { what: "that a finds the database away" });
    assertEquals([...b.cluster.peers], []);
    proxy.mend();
    await eventually(() => !a.cluster.away && b.cluster.peers.size === 1, { what: "the end of the cut" });
    const { count } = a.looks;
    await eventually(() => a.looks.count > count, { what: "looks of a" });
    assert(b.flags.holds("reactor") && !a.flags.holds("reactor"));
    // What one tells wakes the other.
    let woken = 0;
    a.cluster.follow("k", () => Promise.resolve(void woken++));
    await eventually(() => woken > 0, { what: "the first look" });
    const before = woken;
    await b.cluster.write((client) => b.cluster.wake(client, "k"));
    await eventually(() => woken > before, { what: "a look after the wake-up" });
  },
});
