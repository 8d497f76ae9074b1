/**
 * A link that loses one packet in a hundred, and one that takes 200 ms in each direction.
 * @module
 */

import { eventually } from "#tests/support/eventually.ts";
import type { Fault, FaultRun, Figure } from "#tests/chaos/harness/fault.ts";
import { Network } from "#tests/chaos/harness/network.ts";
import { NumberedJobs } from "#tests/chaos/harness/numbered_jobs.ts";
import { answers } from "#tests/chaos/harness/pings.ts";
import { ProcessFleet, type ProcessFleetOptions } from "#tests/chaos/harness/process_fleet.ts";
import { SlowProxy } from "#tests/chaos/harness/slow_proxy.ts";

const LONG = { jobs: 300, minions: 6 };
const SHORT = { jobs: 20, minions: 2 };
const DELAY_MS = 200;

async function work(
  fleet: ProcessFleet,
  { random, say }: FaultRun,
  { count, pingMs }: { count: number; pingMs: number },
): Promise<Figure[]> {
  using jobs = await NumberedJobs.make(fleet);
  let slowestMs = 0, answered = 0, expected = 0;
  for (let i = 0; i < count; i++) {
    await jobs.publish([random.pick(fleet.ids)], random.int(300) / 1_000);
    if (i % 10 > 0) continue;
    // One at a time: a minion sends one request at a time, so a ping would wait for ten returns and their round trips.
    await eventually(() => jobs.outstanding === 0, { withinMs: 60_000, what: "the returns", everyMs: 50 });
    const began = performance.now();
    answered += await answers(fleet, "*", fleet.ids.length, 30_000);
    expected += fleet.ids.length;
    slowestMs = Math.max(slowestMs, performance.now() - began);
  }
  say(`${count} jobs published`);
  await eventually(() => jobs.outstanding === 0, { withinMs: 60_000, what: "the returns", everyMs: 100 }).catch(
    () => {},
  );
  return [
    ...jobs.figures(),
    { name: "answers to test.ping", value: answered, atLeast: expected },
    { name: "slowest test.ping of all, ms", value: Math.round(slowestMs), atMost: pingMs },
    { name: "minions present at the end", value: fleet.present().length, atLeast: fleet.ids.length },
  ];
}

/** See {@linkcode Fault}. */
export const lossyLink: Fault = {
  name: "lossy-link",
  what: "one packet in a hundred is lost, in each direction",
  promise: "nothing is lost, answers are only slower",
  missing: () => Network.missing(),
  async run(run): Promise<Figure[]> {
    const { jobs, minions } = run.long ? LONG : SHORT;
    using network = Network.make();
    network.lose(10);
    await using fleet = await ProcessFleet.start({ minions, places: network.places() });
    return await work(fleet, run, { count: jobs, pingMs: 10_000 });
  },
};

/** See {@linkcode Fault}. */
export const slowLink: Fault = {
  name: "slow-link",
  what: `every byte takes ${DELAY_MS} ms, in each direction (a proxy holds it)`,
  promise: "nothing is lost, answers are only slower, and no timeout counts as an outage",
  async run(run): Promise<Figure[]> {
    const { jobs, minions } = run.long ? LONG : SHORT;
    await using publishing = SlowProxy.listen(DELAY_MS);
    await using requests = SlowProxy.listen(DELAY_MS);
    const options: ProcessFleetOptions = {
      minions,
      minion: { master_port: requests.port, publish_port: publishing.port },
      prepare: (_root, [publish, request]) => {
        publishing.leadTo(publish);
        requests.leadTo(request);
      },
    };
    await using fleet = await ProcessFleet.start(options);
    return await work(fleet, run, { count: jobs, pingMs: 10_000 });
  },
};
