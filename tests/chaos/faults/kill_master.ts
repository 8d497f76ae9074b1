/**
 * `kill -9` of the master while jobs run.
 * @module
 */

import { sleep } from "#lib/os/sleep.ts";
import { eventually } from "#tests/support/eventually.ts";
import type { Fault, Figure } from "#tests/chaos/harness/fault.ts";
import { NumberedJobs } from "#tests/chaos/harness/numbered_jobs.ts";
import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";

const LONG = { kills: 50, minions: 20, jobs: 2_000, upMs: 4_000, downMs: 60_000, meanDownMs: 8_000 };
const SHORT = { kills: 3, minions: 4, jobs: 30, upMs: 1_500, downMs: 2_000, meanDownMs: 700 };
/** Time limit for all returns to be in the cache, from the last start, in milliseconds. */
const SETTLE_MS = 120_000;

/** See {@linkcode Fault}. */
export const killMaster: Fault = {
  name: "kill-master",
  what: "kill -9 of the master, again and again, while jobs run",
  promise: "every return arrives and is stored once; no job runs twice",
  async run({ long, random, say }): Promise<Figure[]> {
    const { kills, minions, jobs: count, upMs, downMs, meanDownMs } = long ? LONG : SHORT;
    await using fleet = await ProcessFleet.start({ minions });
    using jobs = await NumberedJobs.make(fleet);
    const perWindow = Math.ceil(count / (kills + 1));
    let longestDown = 0, longestBack = 0;
    /** Publishes the jobs of one window, evenly over its time. */
    const publish = async () => {
      for (let i = 0; i < perWindow && jobs.published.length < count; i++) {
        const ids = [random.pick(fleet.ids), random.pick(fleet.ids)];
        await jobs.publish([...new Set(ids)], random.int(2_000) / 1_000);
        await sleep(random.int(2 * upMs / perWindow * 0.7));
      }
    };
    for (let kill = 1; kill <= kills; kill++) {
      const publishing = publish();
      await sleep(upMs / 2 + random.int(upMs));
      await fleet.killMaster();
      jobs.hangUp();
      // Usually short, seldom up to the longest; the first one is the longest, so that the longest always occurs.
      const down = kill === 1 ? downMs : Math.min(downMs, -Math.log(1 - random.int(10_000) / 10_000) * meanDownMs);
      longestDown = Math.max(longestDown, down);
      say(`kill ${kill} of ${kills}: down for ${(down / 1000).toFixed(1)} s, ${jobs.published.length} jobs so far`);
      await sleep(down);
      await fleet.startMaster();
      const started = performance.now();
      await fleet.allPresent();
      longestBack = Math.max(longestBack, performance.now() - started);
      await publishing;
    }
    await publish();
    await eventually(() => jobs.outstanding === 0, { withinMs: SETTLE_MS, what: "the returns", everyMs: 500 })
      .catch(() => {}); // the figures show what is missing
    return [
      { name: "kills", value: kills },
      { name: "longest time down, ms", value: Math.round(longestDown) },
      ...jobs.figures(),
      { name: "slowest return of all minions, ms", value: Math.round(longestBack), atMost: 30_000 },
    ];
  },
};
