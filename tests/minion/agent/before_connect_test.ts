/** A minion that has no master yet, and begins all the same. */

import { askOnBus } from "#lib/bus/ask.ts";
import { minionBus } from "#lib/bus/paths.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { CommandError } from "#lib/errors.ts";
import { Minion } from "#lib/minion/agent/minion.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { KEY_ROTATED, MANAGE_SCHEDULE, ROTATE_KEY, scheduleAnswer } from "#lib/protocol/tags.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { eventually, fleetTest } from "#tests/support/fleet/fleet.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";

fleetTest(
  "beacons_before_connect and scheduler_before_connect begin without a master, and questions that fail are told why",
  {},
  async (fleet) => {
    await fleet.stopMaster();
    const early = `${fleet.root}/early`;
    const opts = {
      ...fleet.minionOpts("web1"),
      schedule: map({ early: { function: "file.touch", args: [early], seconds: 3600, run_on_start: true } }),
      // The load is always above: each look is an event.
      beacons: map({ load: [{ averages: { "1m": [-2, -1] }, emitatstartup: true, onchangeonly: false, interval: 1 }] }),
    };
    const { log, lines } = memoryLog();
    const ask = (tag: string, answerTag: string) =>
      askOnBus(minionBus(opts), { tag, answerTag, data: map({ func: "no_such" }), waitS: 60 });
    const waits = await Minion.start(opts, log);
    const unknown = 'Function "no_such" is unavailable in the schedule';
    await assertRejects(() => ask(MANAGE_SCHEDULE, scheduleAnswer("no_such")), CommandError, unknown);
    assertEquals((await waits.describeThreads()).filter((line) => line.startsWith("Beacons")), []);
    await waits.close();
    assert(!isFile(early));
    // The pair is there, and a next one of this size cannot be made.
    const begins = { ...opts, beacons_before_connect: true, scheduler_before_connect: true, keysize: 1 };
    const minion = await Minion.start(begins, log);
    try {
      using events = await EventSubscriber.connect(minionBus(opts).pub, ["__beacons_return"]);
      assert((await events.next(30_000))?.data.has("beacons"));
      await eventually(() => isFile(early), { what: "the job of the schedule" });
      const beacons = (await minion.describeThreads()).filter((line) => line.startsWith("Beacons"));
      assert(beacons.some((line) => line.includes("load")), beacons.join("\n"));
      const size = "A key of 1 bits is not accepted: it must have 1024 to 32768 bits";
      await assertRejects(() => ask(ROTATE_KEY, KEY_ROTATED), CommandError, size);
      assertEquals(lines.filter((line) => line.startsWith("ERROR The event ")), [
        `ERROR The event ${MANAGE_SCHEDULE} failed: ${unknown}`,
        `ERROR The event ${ROTATE_KEY} failed: ${size}`,
      ]);
    } finally {
      await minion.close();
    }
  },
);
