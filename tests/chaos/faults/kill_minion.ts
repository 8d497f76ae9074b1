/**
 * `kill -9` of minions while they run jobs and others wait.
 * @module
 */

import { dataCache } from "#tests/support/fleet/job_store.ts";
import { asyncJobStore } from "#lib/jobs/async_store.ts";
import { jobOutcomes } from "#lib/jobs/outcomes.ts";
import type { Outcome } from "#lib/protocol/outcome.ts";
import { sleep } from "#lib/os/sleep.ts";
import { eventually } from "#tests/support/eventually.ts";
import type { Fault, Figure } from "#tests/chaos/harness/fault.ts";
import { NumberedJobs } from "#tests/chaos/harness/numbered_jobs.ts";
import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";

const LONG = { kills: 50, minions: 10, perKill: 20, upMs: 3_000, downMs: 5_000 };
const SHORT = { kills: 3, minions: 3, perKill: 10, upMs: 1_000, downMs: 1_000 };
const SETTLE_MS = 60_000;
/** The possible outcomes of a job that no longer runs. */
const ENDED: readonly Outcome[] = ["returned", "failed", "interrupted"];

/** See {@linkcode Fault}. */
export const killMinion: Fault = {
  name: "kill-minion",
  what: "kill -9 of minions while they run jobs, and while jobs wait for their turn",
  promise: "every job ends in one outcome, returned or interrupted; none runs twice",
  async run({ long, random, say }): Promise<Figure[]> {
    const { kills, minions, perKill, upMs, downMs } = long ? LONG : SHORT;
    await using fleet = await ProcessFleet.start({ minions, minion: { process_count_max: 3 } });
    using jobs = await NumberedJobs.make(fleet);
    for (let kill = 1; kill <= kills; kill++) {
      const victim = random.pick(fleet.ids);
      const publishing = (async () => {
        for (let i = 0; i < perKill; i++) {
          await jobs.publish([random.chance(0.5) ? victim : random.pick(fleet.ids)], random.int(600) / 1_000);
          await sleep(random.int(upMs / perKill));
        }
      })();
      await sleep(upMs / 2 + random.int(upMs / 2));
      await fleet.killMinion(victim);
      say(`kill ${kill} of ${kills}: ${victim}`);
      await sleep(random.int(downMs));
      await fleet.startMinion(victim);
      await publishing;
    }
    await fleet.allPresent();
    await eventually(() => jobs.outstanding === 0, { withinMs: SETTLE_MS, what: "the returns", everyMs: 500 })
      .catch(() => {}); // the figures show what is missing
    const { masterOpts: opts, jobs: store } = fleet;
    const where = { opts, publishPort: opts.publish_port, jobs: asyncJobStore(store), data: dataCache(opts.cachedir) };
    const words = new Map<Outcome, number>();
    let wrong = 0;
    for (const job of jobs.published) {
      for (const { outcome } of (await jobOutcomes(job.jid, job.ids, where)).values()) {
        words.set(outcome, (words.get(outcome) ?? 0) + 1);
        // A job that returned has run, and a job that ended before it began has not.
        if (outcome === "returned" && jobs.runs(job) !== 1) wrong++;
      }
    }
    const open = [...words].filter(([word]) => !ENDED.includes(word)).reduce((sum, [, count]) => sum + count, 0);
    return [
      { name: "kills", value: kills },
      ...jobs.figures(),
      ...[...words].map(([word, value]) => ({ name: `outcome: ${word}`, value })),
      { name: "without an outcome", value: open, atMost: 0 },
      { name: "returned, and did not run once", value: wrong, atMost: 0 },
    ];
  },
};
