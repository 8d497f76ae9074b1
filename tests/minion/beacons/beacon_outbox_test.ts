/**
 * Events of beacons while the master is away.
 * @module
 */

import { BeaconOutbox, type Sent } from "#lib/minion/beacons/beacon_outbox.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

Deno.test("events wait for a master that is away, in their order, and the oldest of too many are dropped", async () => {
  let answer: Sent = "away";
  const got: Value[] = [], warnings: string[] = [], errors: string[] = [];
  const outbox = new BeaconOutbox({
    log: {
      ...SILENT_LOGGER,
      warning: (text) => void warnings.push(String(text)),
      error: (text) => void errors.push(String(text)),
    },
    retryMs: [1, 5],
    send(events) {
      if (answer === "sent") got.push(...events.map((event) => event.get("n") ?? null));
      return Promise.resolve(answer);
    },
  });
  for (let n = 0; n < 250; n++) outbox.add([map({ n })]);
  assertEquals(outbox.size, 250);
  answer = "sent";
  await eventually(() => outbox.size === 0, { what: "an empty outbox" });
  assertEquals(got, Array.from({ length: 250 }, (_, n) => n));
  answer = "away";
  outbox.add(Array.from({ length: 10_005 }, (_, n) => map({ n })));
  assertEquals(outbox.size, 10_000);
  got.length = 0;
  answer = "sent";
  await eventually(() => outbox.size === 0, { what: "an empty outbox" });
  assertEquals([got.length, got[0], got.at(-1)], [10_000, 5, 10_004]);
  await eventually(() => warnings.length > 0, { what: "the count" });
  assertEquals(warnings, ["5 events of beacons were dropped while the master was away"]);
  assertEquals(errors, ["More than 10000 events of beacons wait for the master; the oldest are dropped"]);
  // One that the master refuses holds up no other.
  answer = "refused";
  outbox.add([map({ n: 1 })]);
  await eventually(() => outbox.size === 0, { what: "an empty outbox" });
  outbox.close();
});
