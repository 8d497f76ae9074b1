/** A minion that has no master yet, and begins all the same. */

import { minionBus } from "#lib/bus/paths.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { Minion } from "#lib/minion/agent/minion.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually, fleetTest } from "#tests/support/fleet/fleet.ts";

fleetTest("beacons_before_connect and scheduler_before_connect begin without a master", {}, async (fleet) => {
  await fleet.stopMaster();
  const early = `${fleet.root}/early`;
  const opts = {
    ...fleet.minionOpts("web1"),
    schedule: map({ early: { function: "file.touch", args: [early], seconds: 3600, run_on_start: true } }),
    // The load is always above: each look is an event.
    beacons: map({ load: [{ averages: { "1m": [-2, -1] }, emitatstartup: true, onchangeonly: false, interval: 1 }] }),
  };
  const waits = await Minion.start(opts, SILENT_LOGGER);
  assertEquals((await waits.describeThreads()).filter((line) => line.startsWith("Beacons")), []);
  await waits.close();
  assert(!isFile(early));
  const begins = { ...opts, beacons_before_connect: true, scheduler_before_connect: true };
  const minion = await Minion.start(begins, SILENT_LOGGER);
  try {
    using events = await EventSubscriber.connect(minionBus(opts).pub, ["__beacons_return"]);
    assert((await events.next(30_000))?.data.has("beacons"));
    await eventually(() => isFile(early), { what: "the job of the schedule" });
    const beacons = (await minion.describeThreads()).filter((line) => line.startsWith("Beacons"));
    assert(beacons.some((line) => line.includes("load")), beacons.join("\n"));
  } finally {
    await minion.close();
  }
});
