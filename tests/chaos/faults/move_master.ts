/**
 * A master that comes back at another address, to which its name now resolves.
 * @module
 */

import { eventually } from "#tests/support/eventually.ts";
import type { Fault, Figure } from "#tests/chaos/harness/fault.ts";
import { Network } from "#tests/chaos/harness/network.ts";
import { NumberedJobs } from "#tests/chaos/harness/numbered_jobs.ts";
import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";

const BACK_MS = 20_000;

/** See {@linkcode Fault}. */
export const moveMaster: Fault = {
  name: "move-master",
  what: "the master dies and comes back at another address, with the same name",
  promise:
    "the minions resolve the name again, and are back within the longest wait between two tries; nothing is lost",
  missing: () => Network.missing(),
  async run({ random, say, long }): Promise<Figure[]> {
    using network = Network.make();
    const minions = long ? 6 : 2;
    await using fleet = await ProcessFleet.start({
      minions,
      places: network.places(),
      minion: { recon_default: 1_000, recon_max: 10_000 },
    });
    using jobs = await NumberedJobs.make(fleet);
    for (let i = 0; i < 6; i++) await jobs.publish([random.pick(fleet.ids)], 1 + random.int(1_000) / 1_000);
    await fleet.killMaster();
    jobs.hangUp();
    network.move();
    fleet.configure("master", { interface: network.movedAddress });
    await fleet.startMaster();
    say(`the master is at ${network.movedAddress} now`);
    const started = performance.now();
    const whole = () => fleet.present().length === minions && jobs.outstanding === 0;
    await eventually(whole, { withinMs: 90_000, what: "all to be back", everyMs: 50 }).catch(() => {});
    const backMs = Math.round(performance.now() - started);
    for (const id of fleet.ids) await jobs.publish([id], 0);
    await eventually(whole, { what: "the returns", everyMs: 50 }).catch(() => {});
    return [{ name: "all back, and every return, ms", value: backMs, atMost: BACK_MS }, ...jobs.figures()];
  },
};
