/**
 * Rows: the start times of services.
 * @module
 */

import { minionStart } from "#lib/protocol/tags.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { Fleet } from "#tests/bench/fleets/fleet.ts";
import { MS, type Row } from "./row.ts";
import { OURS } from "#tests/bench/harness/sides.ts";

const MINION = "bench-1";
const START_MS = 60_000;

/** Master and minion. */
export const START_ROWS: readonly Row[] = [
  {
    name: "master-start",
    title: "master: exec → answers a request",
    unit: MS,
    group: "starts",
    async measure(stage, side) {
      const fleet = await stage.fleet(side, async () => {});
      const ms = await fleet.startMaster();
      await fleet.stopMaster();
      return ms;
    },
  },
  {
    name: "minion-start",
    title: "minion: exec → start event (key accepted; our master)",
    unit: MS,
    group: "minion starts",
    async measure(stage, side) {
      // All sides use our master, whose bus can be read: only the minions differ.
      const fleet = await stage.fleet(OURS, async (fleet: Fleet) => void await fleet.startMaster());
      await fleet.prepareMinion(MINION);
      using events = await EventSubscriber.connect(masterBus(fleet.sockDir).pub, [minionStart(MINION)]);
      const started = performance.now();
      await fleet.startMinion(MINION, side);
      if (await events.next(START_MS) === undefined) throw new Error(`the minion of ${side.name} did not start`);
      const ms = performance.now() - started;
      await fleet.stopMinion(MINION);
      return ms;
    },
  },
];
