/** State module `beacon`; the minion's answers are the test's. */

import { map, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { type Answers, scriptedState } from "#tests/support/calls/state_call.ts";

const LOAD: Value = [map({ averages: [] }), map({ interval: 5 })];
const THERE: Answers = { "beacons.list": () => new Map([["load", LOAD]]) };
const REFUSED = () => map({ result: false, comment: "the minion refuses" });
const DONE = () => map({ result: true, comment: "planned", changes: { load: "changed" } });

const CASES: readonly (readonly [
  fun: string,
  args: Readonly<Record<string, unknown>>,
  answers: Answers,
  result: boolean,
  comment: string,
])[] = [
  ["present", { averages: [], interval: 5 }, THERE, true, "Job load in correct state"],
  [
    "present",
    { averages: [], interval: 5, save: true },
    { ...THERE, "beacons.save": () => map({ result: true }) },
    true,
    "Job load in correct state\nBeacon load saved",
  ],
  [
    "present",
    { averages: [], interval: 5, save: true },
    { ...THERE, "beacons.save": REFUSED },
    true,
    "Job load in correct state\nthe minion refuses",
  ],
  ["present", { interval: 6 }, { ...THERE, "beacons.modify": DONE }, true, "Modifying load in beacons"],
  ["present", { interval: 6 }, { ...THERE, "beacons.modify": REFUSED }, false, "the minion refuses"],
  ["present", {}, { "beacons.list": null, "beacons.add": DONE }, true, "Adding load to beacons"],
  ["present", {}, { "beacons.list": null, "beacons.add": REFUSED }, false, "the minion refuses"],
  ["absent", {}, { ...THERE, "beacons.delete": DONE }, true, "Removed load from beacons"],
  ["absent", {}, { ...THERE, "beacons.delete": REFUSED }, false, "the minion refuses"],
  ["absent", {}, { "beacons.list": null }, true, "load not configured in beacons"],
  ["enabled", {}, { "beacons.list": null }, true, "load not a configured beacon"],
  ["disabled", {}, { "beacons.list": null }, true, "Job load is not configured."],
  ["enabled", {}, { ...THERE, "beacons.enable_beacon": DONE }, true, "Enabled load from beacons"],
  ["enabled", {}, { ...THERE, "beacons.enable_beacon": REFUSED }, false, "the minion refuses"],
  ["disabled", {}, { ...THERE, "beacons.disable_beacon": DONE }, true, "Disabled beacon load."],
  ["disabled", {}, { ...THERE, "beacons.disable_beacon": REFUSED }, false, "the minion refuses"],
];

for (const [fun, args, answers, result, comment] of CASES) {
  Deno.test(`beacon.${fun} ${JSON.stringify(args)}: ${comment.replace("\n", " ")}`, async () => {
    const given = await scriptedState(`beacon.${fun}`, { name: "load", ...args }, answers);
    assertEquals([given.result, given.comment], [result, comment]);
  });
}
