/**
 * The signs of life of a master over a real database: its leases, and what becomes of a row that is not its own.
 * @module
 */

import { ClusterMembers } from "#lib/cluster/cluster_members.ts";
import { LeaseFlags, LEASES } from "#lib/cluster/lease_flags.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { serverProgram } from "#tests/support/database_servers.ts";
import { eventually } from "#tests/support/eventually.ts";
import { startClusterPlace } from "./cluster_place.ts";

const missing = serverProgram("postgres") === undefined;
const what = "a member that was forgotten is there again; one whose name a later run has says so, and holds nothing";

Deno.test({
  name: missing ? `${what} (skipped: there is no postgres)` : what,
  ignore: missing,
  async fn() {
    await using place = await startClusterPlace();
    // Another member has the number after it.
    const { database: cluster, log, lines } = await place.member(1);
    await place.member(2);
    const flags = new LeaseFlags();
    const applicant = { name: "master-1", address: "127.0.0.1", leaseMs: 2_000, last: undefined, incarnation: 1 };
    const members = new ClusterMembers({ cluster, flags, log, applicant, facts: () => ({ minions: 3, outbox: 0 }) });
    const holds = () => LEASES.every((name) => flags.holds(name));
    await eventually(holds, { what: "the leases" });
    assertEquals(members.held.toSorted(), LEASES.toSorted());
    await place.server.sql(`delete from salt.masters where origin = 1`);
    await eventually(async () => {
      await place.server.sql(`do $$ begin
        assert (select count(*) from salt.masters where origin = 1 and name = 'master-1' and minions = 3) = 1; end $$`);
      return true;
    }, { what: "the row of the forgotten master" });
    // As if it had been started once more elsewhere.
    await place.server.sql(`update salt.masters set incarnation = 9, until = now() - interval '1 s' where origin = 1`);
    const told = () => lines.filter((line) => line.includes("this master has another number by now"));
    await eventually(() => told().length > 0, { what: "that it must be started again" });
    await eventually(() => !LEASES.some((name) => flags.holds(name)), { what: "the end of its leases" });
    assertEquals(told(), ["CRITICAL The cluster: this master has another number by now, and must be started again"]);
    await place.server.crash();
    await members.close();
    assertEquals(lines.some((line) => line.includes("The leases of this master run out by themselves")), true);
  },
});
