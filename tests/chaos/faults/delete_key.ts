/**
 * Deletes one minion's key, which rotates the shared key of all minions.
 * @module
 */

import { sleep } from "#lib/os/sleep.ts";
import { eventually } from "#tests/support/eventually.ts";
import type { Fault, Figure } from "#tests/chaos/harness/fault.ts";
import { answers } from "#tests/chaos/harness/pings.ts";
import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { SignIns, startSwarm } from "#tests/chaos/harness/swarm.ts";

const LONG = { minions: 500, quietMs: 10_000 };
const SHORT = { minions: 50, quietMs: 3_000 };
/** Time in which the events of sign-ins that are over have come, in milliseconds. */
const EVENTS_MS = 1_500;

/** See {@linkcode Fault}. */
export const deleteKey: Fault = {
  name: "delete-key",
  what: "the deletion of one minion's key, which rotates the shared key",
  promise: "each other minion signs in once, at the next job and not before, as the protocol requires; no job is lost",
  async run({ long, say }): Promise<Figure[]> {
    const { minions, quietMs } = long ? LONG : SHORT;
    await using fleet = await ProcessFleet.start({ minions: 1, master: { loop_interval: 1, ping_on_rotate: false } });
    const swarm = await startSwarm(fleet, minions);
    try {
      await answers(fleet, "*", minions + 1, 30_000);
      using signIns = await SignIns.listen(fleet);
      await fleet.salt("salt-key", "-y", "-d", "sim-1");
      await eventually(() => fleet.log("master").includes("The new AES key is in use"), {
        what: "the rotation",
      });
      await sleep(quietMs);
      const before = signIns.received.length;
      say(`${before} sign-ins in ${quietMs / 1000} s of rest`);
      const began = performance.now();
      const answered = await answers(fleet, "*", minions, 60_000);
      const tookMs = Math.round(performance.now() - began);
      const ofOthers = () => signIns.received.filter(({ id }) => id !== "sim-1").length;
      // Events of the bus come here later than the answers come to `salt`.
      await sleep(EVENTS_MS);
      const others = ofOthers();
      const again = await answers(fleet, "*", minions, 60_000);
      await sleep(EVENTS_MS);
      return [
        { name: "minions that stay", value: minions },
        { name: "sign-ins before the next job", value: before, atMost: 0 },
        { name: "answers to the next job", value: answered, atLeast: minions },
        { name: "the last one after, ms", value: tookMs, atMost: 30_000 },
        { name: "sign-ins of the others for it", value: others, atMost: minions },
        { name: "answers to the job after that", value: again, atLeast: minions },
        {
          name: "sign-ins of the others for that",
          value: ofOthers() - others,
          atMost: 0,
        },
      ];
    } finally {
      await swarm.stop(5_000);
    }
  },
};
