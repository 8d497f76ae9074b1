/**
 * A thread of beacons that does not answer any more.
 * @module
 */

import { BeaconThreads } from "#lib/minion/beacons/beacon_threads.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

Deno.test("a beacon that computes for ever is named and stopped, and the others of its thread go on", async () => {
  const taken: ValueMap[] = [];
  const threads = new BeaconThreads({
    id: "web1",
    opts: {},
    loopMs: 1_000,
    log: SILENT_LOGGER,
    call: () => Promise.resolve(null),
    take: (events) => void taken.push(...events),
    once: () => {},
    url: new URL("../../support/threads/hanging_beacons.ts", import.meta.url),
    checkMs: 500,
    answerMs: 2_000,
  });
  threads.configure(map({ hangs: [], works: [] }));
  await eventually(() => taken.some((event) => event.get("tag") === "works"), { what: "an event of the other" });
  const [error] = taken;
  assertEquals([error.get("tag"), error.get("beacon_name")], ["salt/beacon/web1/hangs/", "hangs"]);
  assertStringIncludes(String(error.get("error")), "it has not ended in 2 seconds");
  await threads.close();
});
