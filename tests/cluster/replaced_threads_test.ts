/** Threads of a master of a cluster that die: the others find the ways to their successors. */

import { map } from "#lib/values/value.ts";
import { assertMatch } from "#tests/support/assert.ts";
import { clusterTest } from "#tests/support/cluster/cluster_site.ts";
import { eventually } from "#tests/support/fleet/fleet.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { ObservedWorkers } from "#tests/support/threads/observed_workers.ts";

clusterTest("jobs and reactions go on when the threads of the cluster, of the database and of publishes are replaced", {
  masters: 0,
}, (site) =>
  withTemporaryDirectory(async (root) => {
    using workers = new ObservedWorkers();
    const file = `${root}/react.sls`;
    Deno.writeTextFileSync(file, "a:\n  local.test.arg:\n    - tgt: web1\n    - arg: [{{ data.n }}]\n");
    const a = site.addMaster({ master: { cluster_lease: 30, reactor: [{ "own/*": file }] } });
    await a.startMaster();
    await a.untilServing(["web1"], () => a.startMinion("web1"));
    for (const name of ["Cluster", "JobStore", "Publisher"]) {
      const count = workers.count(name);
      workers.kill(name);
      await eventually(() => workers.count(name) > count, { what: `the next ${name}` });
    }
    await eventually(async () => (await a.salt("web1", "test.echo", "again", "--out=txt")).out === "web1: again\n", {
      what: "a job",
    });
    const lines = await a.master.describeThreads();
    assertMatch(lines.find((line) => line.startsWith("Cluster: ")) ?? "", /no other master lives; (holds |no lease)/);
    await a.fire("own/1", map({ n: 5 }));
    await eventually(async () => (await a.saltRun("jobs.list_jobs", "search_function=test.arg")).out.includes("5"), {
      what: "the job of the reaction",
    });
  }));
