/**
 * A master that is killed and started again under hundreds of connected minions.
 * @module
 */

import { sleep } from "../lib/sleep.ts";
import { eventually } from "../tests/eventually.ts";
import type { Fault, Figure } from "./fault.ts";
import { ProcessFleet } from "./process_fleet.ts";
import { answers, pingFor } from "./pings.ts";
import { SignIns, startSwarm } from "./swarm.ts";

const LONG = { minions: 500, downMs: 3_000 };
const SHORT = { minions: 50, downMs: 1_000 };
const BACK_MS = 30_000;
/** Real ones beside the simulated ones: whoever of them is present is asked. */
const REAL = 4;
/** An operator's test.ping of a real minion meanwhile must be answered in this time. */
const PING_MS = 5_000;

/** See {@linkcode Fault}. */
export const restartMaster: Fault = {
  name: "restart-master",
  what: "a master that is killed and started again under hundreds of connected minions",
  promise: "all are signed in again within 30 s, not all at once, and jobs are possible meanwhile",
  async run({ long, say }): Promise<Figure[]> {
    const { minions, downMs } = long ? LONG : SHORT;
    const all = minions + REAL;
    await using fleet = await ProcessFleet.start({ minions: REAL });
    const swarm = await startSwarm(fleet, minions);
    try {
      using signIns = await SignIns.listen(fleet);
      await fleet.killMaster();
      await sleep(downMs);
      signIns.clear();
      const started = performance.now();
      await fleet.startMaster();
      const pings = pingFor(fleet, () => fleet.present(), () => signIns.minions < all, BACK_MS);
      await eventually(() => signIns.minions >= all, { withinMs: BACK_MS, what: "the sign-ins", everyMs: 50 })
        .catch(() => {}); // the figures say how many came
      const { slowestMs, unanswered, firstMs } = await pings;
      say(`${signIns.minions} of ${all} are back`);
      const times = signIns.heard.map(({ atMs }) => atMs - started).sort((a, b) => a - b);
      const answered = await answers(fleet, "*", all, BACK_MS);
      return [
        { name: "minions", value: all },
        { name: "signed in again", value: signIns.minions, atLeast: all },
        { name: "the last of them after, ms", value: Math.round(times.at(-1) ?? BACK_MS), atMost: BACK_MS },
        { name: "in the busiest second, percent", value: busiestSecond(times), atMost: long ? 80 : 100 },
        { name: "first answer to test.ping after, ms", value: firstMs, atMost: 10_000 },
        { name: "slowest test.ping after that, ms", value: slowestMs, atMost: PING_MS },
        { name: "test.pings without an answer", value: unanswered, atMost: 0 },
        { name: "answers to a job for all", value: answered, atLeast: all },
      ];
    } finally {
      await swarm.stop(5_000);
    }
  },
};

function busiestSecond(times: readonly number[]): number {
  const most = Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + 1_000).length));
  return Math.round(100 * most / Math.max(1, times.length));
}
