/**
 * Many jobs on twenty minions: none lost, none doubled. Prints how long it took.
 * @module
 */

import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { jobStore } from "#tests/support/fleet/job_store.ts";
import { LocalClient } from "#lib/client/local.ts";
import { packOpts } from "#lib/config/opts_transfer.ts";
import { Thread } from "#lib/runtime/thread.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import type { Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { eventually, type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";
import type { MinionThreadInit } from "#tests/support/fleet/minion_thread.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";

const IDS = Array.from({ length: 20 }, (_, i) => `minion${String(i).padStart(2, "0")}`);
const CONSECUTIVE = 200;
const CONCURRENT = 50;

/** Every return event since `listen`, by job and minion. */
async function countReturns(
  fleet: Fleet,
  run: (counts: ReadonlyMap<string, number>) => Promise<void>,
): Promise<Map<string, number>> {
  const events = await fleet.listen("salt/job/");
  const counts = new Map<string, number>();
  const counting = (async () => {
    for (let event = await events.next(); event !== undefined; event = await events.next()) {
      if (/\/ret\//.test(event.tag)) counts.set(event.tag, (counts.get(event.tag) ?? 0) + 1);
    }
  })();
  try {
    await run(counts);
  } finally {
    events.close();
    await counting;
  }
  return counts;
}

/**
 * Starts the minions, five in a thread: an isolate can wait for 32 sockets at once, and each minion has two or three.
 */
async function startMinions(fleet: Fleet): Promise<AsyncDisposable> {
  const threads: Thread<MinionThreadInit>[] = [];
  const { log } = memoryLog();
  await fleet.untilServing(IDS, async () => {
    for (let i = 0; i < IDS.length; i += 5) {
      const opts = IDS.slice(i, i + 5).map((id) => packOpts("minion", fleet.minionOpts(id)));
      const url = new URL("../support/fleet/minion_thread.ts", import.meta.url);
      threads.push(new Thread<MinionThreadInit>({ name: `Minions-${i}`, url, init: { opts }, log }));
    }
    await Promise.all(threads.map((thread) => thread.ready));
  });
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(threads.map((thread) => thread.stop(new TimeBudget(10_000))));
    },
  };
}

function report(what: string, startedMs: number): void {
  const tookMs = performance.now() - startedMs;
  const rssMb = Deno.memoryUsage().rss / 2 ** 20;
  const line = `  ${what}: ${(tookMs / 1000).toFixed(1)} s, ${rssMb.toFixed(0)} MB RSS\n`;
  Deno.stderr.writeSync(new TextEncoder().encode(line));
}

Deno.test("200 jobs in a row and 50 at once over 20 minions: no return is lost or duplicated", async () => {
  const startMs = performance.now();
  await using fleet = await startFleet({ minion: { process_count_max: 4 } });
  await using _minions = await startMinions(fleet);
  report("20 minions started", startMs);

  const jids: string[] = [];
  const consecutive = async (counts: ReadonlyMap<string, number>) => {
    using client = await LocalClient.connect(fleet.masterOpts, { user: "root", log: SILENT_LOGGER });
    for (let i = 0; i < CONSECUTIVE; i++) {
      const job = await client.publish({ tgt: "*", tgtType: "glob", fun: "test.echo", arg: [i] });
      jids.push(job.jid);
      const returned: [string, Value][] = [];
      for await (const one of client.collect(job, { timeoutMs: 20_000, gatherMs: 10_000 })) {
        if (one.kind === "silent") throw new Error(`${one.id} is silent on job ${i}`);
        returned.push([one.id, one.return]);
      }
      assertEquals(returned.sort(), IDS.map((id) => [id, i]));
    }
    await all(counts, CONSECUTIVE);
  };
  const row = performance.now();
  const counts = await countReturns(fleet, consecutive);
  report("200 jobs in a row", row);
  assertEquals(jids.length, CONSECUTIVE);
  checkCounts(counts, jids);
  const jobs = jobStore(fleet.masterOpts.cachedir, { hashType: fleet.masterOpts.hash_type });
  for (const [i, jid] of jids.entries()) {
    const stored = [...jobs.getReturns(jid)].map(([id, entry]) => [id, entry.return]);
    assertEquals(stored, IDS.map((id) => [id, i]));
  }

  const heap = performance.now();
  const heaped: string[] = [];
  const atOnce = async (counts: ReadonlyMap<string, number>) => {
    using client = await LocalClient.connect(fleet.masterOpts, { user: "root", log: SILENT_LOGGER });
    await Promise.all(Array.from({ length: CONCURRENT }, async (_, i) => {
      heaped.push((await client.publish({ tgt: "*", tgtType: "glob", fun: "test.echo", arg: [i] })).jid);
    }));
    await all(counts, CONCURRENT);
  };
  const heapCounts = await countReturns(fleet, atOnce);
  report("50 jobs at once", heap);
  checkCounts(heapCounts, heaped);
});

async function all(counts: ReadonlyMap<string, number>, jobs: number): Promise<void> {
  await eventually(() => counts.size >= jobs * IDS.length, { what: "the event of every return" });
}

/** Each minion has returned once for each job, and for no other job. */
function checkCounts(counts: ReadonlyMap<string, number>, jids: readonly string[]): void {
  const tags = jids.flatMap((jid) => IDS.map((id) => `salt/job/${jid}/ret/${id}`));
  assertEquals([...counts.keys()].sort(), tags.sort());
  assertEquals([...counts.values()].filter((count) => count !== 1), []);
}
