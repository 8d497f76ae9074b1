/**
 * The leases of a cluster: a master that is killed or stopped loses them, and a name that lives is not taken.
 * @module
 */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { answerOf, clusterTest, valueAt } from "#tests/support/cluster/cluster_site.ts";
import { eventually, type Fleet } from "#tests/support/fleet/fleet.ts";

async function holders(by: Fleet): Promise<unknown[]> {
  const leases = await answerOf(by, "cluster.leases");
  return ["maintenance", "reactor", "schedule"].map((name) => valueAt(leases, name, "master"));
}

const all = (name: string) => [name, name, name];

clusterTest(
  "of a master that is killed another takes the leases; started again it is the same member",
  { masters: 0 },
  async (
    site,
  ) => {
    const [a, b] = [site.addMaster(), site.addMaster()];
    const first = await site.startProcess(a);
    await eventually(async () => (await holders(a)).every((name) => name === "master-a"), { what: "the leases of a" });
    await b.startMaster();
    assertEquals(await holders(b), all("master-a"));
    Deno.kill(first.pid, "SIGUSR1");
    await eventually(() => /Cluster: with master-b; holds maintenance, reactor, schedule/.test(first.written), {
      what: "what the thread does",
    });
    await first.kill();
    await eventually(async () => valueAt(await answerOf(b, "cluster.members"), "master-a", "alive") === false, {
      what: "the end of a",
    });
    await eventually(async () => (await holders(b)).every((name) => name === "master-b"), { what: "the leases of b" });
    await eventually(() => Promise.resolve(b.logs.some((line) => line.includes("holds the lease maintenance"))), {
      what: "that b knows it",
    });
    await site.startProcess(a);
    const members = await answerOf(b, "cluster.members");
    assertEquals(["master-a", "master-b"].map((name) => valueAt(members, name, "alive")), [true, true]);
    assertEquals(await holders(b), all("master-b"));
  },
);

clusterTest(
  "a master that was stopped for longer than a lease does not believe that it holds one",
  { masters: 0 },
  async (
    site,
  ) => {
    const [a, b] = [site.addMaster(), site.addMaster()];
    const first = await site.startProcess(a);
    await eventually(async () => (await holders(a)).every((name) => name === "master-a"), { what: "the leases of a" });
    await b.startMaster();
    Deno.kill(first.pid, "SIGSTOP");
    await eventually(async () => (await holders(b)).every((name) => name === "master-b"), { what: "the leases of b" });
    Deno.kill(first.pid, "SIGCONT");
    await eventually(() => Promise.resolve(first.written.includes("Another master holds the lease maintenance")), {
      what: "that a knows it",
    });
    assertEquals(await holders(b), all("master-b"));
    assert(first.exitCode === undefined);
  },
);
