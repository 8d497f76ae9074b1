/**
 * The reactor of a cluster: one master reacts to the events of all, and the next goes on where it was.
 * @module
 */

import { LeasedJournal, type ReactorLease } from "#lib/master/reactor/leased_journal.ts";
import { LeaseLostError, StoreError } from "#lib/errors.ts";
import { packEvent } from "#lib/bus/event.ts";
import { withPeerMark } from "#lib/bus/peer_mark.ts";
import type { ReactorPosition, Taken } from "#lib/reactor/journal.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { answerOf, clusterTest } from "#tests/support/cluster/cluster_site.ts";
import { eventually } from "#tests/support/eventually.ts";
import type { Fleet } from "#tests/support/fleet/fleet.ts";

const SAY = "a:\n  local.test.arg:\n    - tgt: web1\n    - arg: [{{ data.n }}]\n";

/** The arguments of the jobs of `test.arg` that the cluster has, in the order of their ids. */
async function reacted(fleet: Fleet): Promise<Value[]> {
  const jobs = await answerOf(fleet, "jobs.list_jobs", "search_function=test.arg");
  return !isMap(jobs) ? [] : [...jobs].sort().map(([, job]) => {
    const args = isMap(job) ? job.get("Arguments") : undefined;
    return Array.isArray(args) ? args[0] : null;
  });
}

clusterTest(
  "one master reacts to the events of both, and the next goes on where it was",
  { masters: 0 },
  async (site) => {
    const file = Deno.makeTempFileSync({ suffix: ".sls" });
    try {
      Deno.writeTextFileSync(file, SAY);
      const master = { reactor: [{ "t/say": [file] }] };
      const [a, b] = [site.addMaster({ master }), site.addMaster({ master })];
      await a.startMaster();
      await b.startMaster();
      await a.untilServing(["web1"], () => a.startMinion("web1"));
      await eventually(() => b.keys.list("accepted").length === 1, { what: "the key" });
      await b.fire("t/say", map({ n: 1 }));
      await a.fire("t/say", map({ n: 2 }));
      await eventually(async () => (await reacted(b)).length === 2, { what: "the reactions of the first" });
      await a.stopMaster();
      await b.fire("t/say", map({ n: 3 }));
      await eventually(async () => (await reacted(b)).includes(3), { what: "the reaction of the next" });
      assertEquals((await reacted(b)).toSorted(), [1, 2, 3]);
      const status = await answerOf(b, "reactor.status");
      assertEquals(isMap(status) && isMap(status.get("reactions")), true, "the holder has a report");
      await b.stopMaster();
      await eventually(
        async () =>
          (await b.saltRun("reactor.status")).out.includes("No master of the cluster holds the lease reactor"),
        { what: "the end of the lease" },
      );
    } finally {
      Deno.removeSync(file);
    }
  },
);

/** The row of a lease in memory. */
class Row implements ReactorLease {
  position: Uint8Array | null = null;
  holder = true;
  fails = 0;

  holds(): boolean {
    return this.holder;
  }

  read(): Promise<Uint8Array | null> {
    return Promise.resolve(this.position);
  }

  write(position: Uint8Array): Promise<boolean> {
    if (this.fails-- > 0) return Promise.reject(new StoreError("away", ""));
    if (this.holder) this.position = position;
    return Promise.resolve(this.holder);
  }
}

const frame = packEvent("t/say", map({ n: 1 }));

function event(number: number, from?: string, seq = 0) {
  return { number, ms: 1, frame: from === undefined ? frame : withPeerMark(frame, { id: from, seq }) ?? frame };
}

function place(position: ReactorPosition | undefined): ReactorPosition {
  if (position === undefined) throw new Error("the event was taken over before");
  return position;
}

const taken = (jid: string): Taken => ({
  jid,
  tag: "t/say",
  reaction: {
    kind: "local",
    id: "a",
    file: "/say.sls",
    fun: "test.arg",
    args: [1],
    kwargs: map({}),
    tgt: "*",
    tgtType: "glob",
    ret: "",
    publish: map({}),
  },
});

Deno.test("the place of a reactor is a number for each master, and reactions that were not started are the next one's", async () => {
  const row = new Row();
  const a = await LeasedJournal.open("master-a", row);
  place(a.after(event(7), "log"));
  const position = place(a.after(event(8, "master-b", 70), "log"));
  place(a.after(event(9, "master-b", 71), "log"));
  row.fails = 2;
  await a.take(position, [taken("1"), taken("2")]);
  a.started("1");
  a.flush();
  await a.take(position, [taken("3")]);
  // In the log of the next the same events have other numbers.
  const b = await LeasedJournal.open("master-b", row);
  assertEquals(b.open.map(({ jid }) => jid), ["2", "3"]);
  assertEquals([b.after(event(70), "other"), b.after(event(400, "master-a", 7), "other")], [undefined, undefined]);
  assertEquals(place(b.after(event(71), "other")).masters, new Map([["master-a", 7], ["master-b", 71]]));
  row.holder = false;
  await assertRejects(() => a.take(position, [taken("4")]), LeaseLostError);
  assertEquals((await LeasedJournal.open("master-c", row)).open.length, 2);
});
