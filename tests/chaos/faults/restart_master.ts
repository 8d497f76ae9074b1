/**
 * A master that is killed and started again under hundreds of connected minions.
 * @module
 */

import { sleep } from "#lib/os/sleep.ts";
import { eventually } from "#tests/support/eventually.ts";
import type { Service } from "#tests/support/processes.ts";
import type { Fault, Figure } from "#tests/chaos/harness/fault.ts";
import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { answers, pingFor } from "#tests/chaos/harness/pings.ts";
import { SignIns, startSwarm } from "#tests/chaos/harness/swarm.ts";

/** Maximum percentage of the minions' first waits in one tenth of the possible time; the expected value is 10. */
const LONG = { minions: 500, downMs: 10_000, sameTenth: 20 };
const SHORT = { minions: 50, downMs: 1_000, sameTenth: 40 };
const BACK_MS = 30_000;
const STOP_MS = 5_000;
/** The longest first wait of a minion with default options (`recon_default`). */
const FIRST_WINDOW_MS = 1_000;
/** Number of real minions besides the simulated ones: those that are present are pinged. */
const REAL = 4;
/** Time limit of an operator's test.ping of a real minion meanwhile, in milliseconds. */
const PING_MS = 10_000;

/** See {@linkcode Fault}. */
export const restartMaster: Fault = {
  name: "restart-master",
  what: "a master that is killed and started again under hundreds of connected minions",
  promise: "all are signed in again within 30 s, spread over time, and jobs are possible meanwhile",
  async run({ long, say }): Promise<Figure[]> {
    const { minions, downMs, sameTenth } = long ? LONG : SHORT;
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
        .catch(() => {}); // the figures show how many came
      const { slowestMs, unanswered, firstMs } = await pings;
      say(`${signIns.minions} of ${all} are back`);
      const times = signIns.received.map(({ atMs }) => atMs - started).sort((a, b) => a - b);
      const answered = await answers(fleet, "*", all, BACK_MS);
      await swarm.stop(STOP_MS);
      const waits = firstWaits(swarm).slice(-minions);
      return [
        { name: "minions", value: all },
        { name: "signed in again", value: signIns.minions, atLeast: all },
        { name: "the last one after, ms", value: Math.round(times.at(-1) ?? BACK_MS), atMost: BACK_MS },
        { name: "in the busiest second, percent", value: largestShare(times, 1_000) },
        { name: "first waits", value: waits.length, atLeast: minions },
        {
          name: "of these in the busiest tenth, percent",
          value: largestShare(waits, FIRST_WINDOW_MS / 10),
          atMost: sameTenth,
        },
        { name: "first answer to test.ping after, ms", value: firstMs, atMost: 20_000 },
        { name: "slowest test.ping after that, ms", value: slowestMs, atMost: PING_MS },
        { name: "test.pings without an answer", value: unanswered, atMost: 0 },
        { name: "answers to a job for all", value: answered, atLeast: all },
      ];
    } finally {
      await swarm.stop(STOP_MS);
    }
  },
};

/** The waits that the minions of an ended swarm chose after they lost the master, in milliseconds. */
function firstWaits(swarm: Service): number[] {
  const last = Deno.readTextFileSync(swarm.output).trimEnd().split("\n").at(-1) ?? "";
  const { event, firstWaits } = JSON.parse(last) as { event: string; firstWaits?: number[] };
  if (firstWaits === undefined) throw new Error(`the swarm's last word was ${event}`);
  return firstWaits;
}

/** The largest percentage of `times` within any interval of `ms`. */
function largestShare(times: readonly number[], ms: number): number {
  const max = Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + ms).length));
  return Math.round(100 * max / Math.max(1, times.length));
}
