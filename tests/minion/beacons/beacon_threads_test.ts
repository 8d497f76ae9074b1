/**
 * Threads of beacons that do not answer any more, die, or say what they should not.
 * @module
 */

import { BeaconThreads } from "#lib/minion/beacons/beacon_threads.ts";
import { MinionBeacons } from "#lib/minion/beacons/minion_beacons.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { equals, map, type ValueMap } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { eventually } from "#tests/support/eventually.ts";

const SCRIPTED = new URL("../../support/threads/hanging_beacons.ts", import.meta.url);
const toBeacons = (names: readonly string[]) => map(Object.fromEntries(names.map((name) => [name, []])));
const errorOf = (event: ValueMap) => mapOrEmpty(event.get("data")).get("error");
const NO_BEACONS = {
  id: "web1",
  opts: {},
  loopMs: 1_000,
  beacons: null,
  files: { conf_file: "/none", config_dir: "/none", default_include: "" },
  call: () => Promise.resolve(null),
  fireLocal: () => Promise.resolve(true),
};

/** Threads of beacons that are scripted, with what they tell. */
function openThreads(more: Partial<ConstructorParameters<typeof BeaconThreads>[0]> = {}) {
  const taken: ValueMap[] = [], { log, lines } = memoryLog();
  const threads = new BeaconThreads({
    id: "web1",
    opts: {},
    loopMs: 1_000,
    log,
    call: () => Promise.resolve(null),
    take: (events) => void taken.push(...events),
    once: () => {},
    url: SCRIPTED,
    ...more,
  });
  return { threads, taken, lines };
}

Deno.test("a thread whose beacon ends it goes on without that one, and after many of them no beacon runs", async () => {
  const { threads, taken, lines } = openThreads();
  const names = Array.from({ length: 11 }, (_, n) => `dies${n}`);
  threads.configure(toBeacons(["dies0", "works"]));
  await eventually(() => taken.some((event) => event.get("tag") === "works"), { what: "an event of the other" });
  assertEquals(taken.map((event) => event.get("tag")), ["salt/beacon/web1/dies0/", "works"]);
  assertEquals(taken[0].get("error"), errorOf(taken[0]));
  assertStringIncludes(String(taken[0].get("error")), "its thread died: ");
  threads.configure(toBeacons(names));
  await eventually(() => lines.some((line) => line.includes("No beacon runs any more")), { what: "the end" });
  const stopped = taken.map((event) => event.get("beacon_name")).filter((name) => name !== undefined);
  assertEquals(stopped, names);
  assertEquals(await threads.describe(), []);
  await threads.close();
});

Deno.test("what a thread of beacons says that is no message is named, and changes nothing", async () => {
  const ran: string[] = [];
  const { threads, taken, lines } = openThreads({ once: (name) => void ran.push(name) });
  threads.configure(toBeacons(["junk", "once", "silent", "works"]));
  await eventually(() => taken.length > 0, { what: "an event" });
  assertEquals([ran, taken.map((event) => event.get("tag"))], [["once"], ["works"]]);
  assertEquals(lines.filter((line) => line.startsWith("ERROR")).length, 1);
  assertStringIncludes(lines.join("\n"), "ERROR A thread of beacons sent an invalid message: ");
  await threads.close();
});

Deno.test("a beacon that has run once is disabled, and without the option there are none", async () => {
  const { log, lines } = memoryLog();
  const fired: ValueMap[] = [];
  const beacons = new MinionBeacons({
    ...NO_BEACONS,
    log,
    beacons: map({ once: [{ run_once: true }], silent: [] }),
    fireLocal: (_tag, data) => {
      fired.push(data);
      return Promise.resolve(true);
    },
    url: SCRIPTED,
  });
  const own = async () => (await beacons.answering.answer(map({ func: "list" })))?.data.get("beacons") ?? null;
  beacons.start();
  const after = map({ once: [{ run_once: true }, { enabled: false }], silent: [] });
  await eventually(async () => equals(await own(), after), { what: "the beacon is disabled" });
  assertEquals(fired, []);
  await beacons.close();
  const none = new MinionBeacons({ ...NO_BEACONS, log });
  none.answering.report("the bus did not take the answer");
  assertEquals(lines, ["ERROR the bus did not take the answer"]);
  assertEquals((await none.answering.answer(map({ func: "list" })))?.data.get("beacons"), map({}));
  await none.close();
});

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
    url: SCRIPTED,
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

Deno.test("a built-in beacon with run_once tells of its one look from its thread", async () => {
  const ran: string[] = [];
  const { threads, lines } = openThreads({ url: undefined, once: (name) => void ran.push(name) });
  threads.configure(map({ load: [{ averages: { "1m": [-2, -1] } }, { emitatstartup: true }, { run_once: true }] }));
  await eventually(() => ran.length > 0, { what: "the look" });
  assertEquals([ran, lines.filter((line) => line.startsWith("ERROR"))], [["load"], []]);
  await threads.close();
});
