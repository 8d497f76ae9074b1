/** State module `schedule`; the minion's answers are the test's. A minion's schedule is in tests/schedule. */

import { map, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { type Answers, scriptedState } from "#tests/support/calls/state_call.ts";

const ENTRY = { function: "test.ping", seconds: 60, enabled: true };
const THERE: Answers = { "schedule.list": () => map({ job: ENTRY }), "schedule.build_schedule_item": () => map(ENTRY) };
const NONE: Answers = { "schedule.list": null };
const REFUSED = () => map({ result: false, comment: "the minion refuses", changes: {} });
const DONE = () => map({ result: true, comment: "planned", changes: { job: "changed" } });
const OTHER: Answers = { ...THERE, "schedule.build_schedule_item": () => map({ ...ENTRY, seconds: 5 }) };

type Case = readonly [
  fun: string,
  answers: Answers,
  result: boolean,
  comment: string,
  changes: Readonly<Record<string, unknown>>,
  test?: boolean,
];

const CASES: readonly Case[] = [
  ["present", { ...NONE, "schedule.add": DONE }, true, "Adding new job job to schedule", { job: "changed" }],
  ["present", { ...NONE, "schedule.add": DONE }, true, "planned", { job: "added" }, true],
  ["present", { ...NONE, "schedule.add": REFUSED }, false, "the minion refuses", {}],
  ["present", { ...NONE, "schedule.add": "no answer" }, false, "no answer", {}],
  ["present", THERE, true, "Job job in correct state", {}],
  ["present", { ...OTHER, "schedule.modify": DONE }, true, "Modifying job job in schedule", { job: "changed" }],
  ["present", { ...OTHER, "schedule.modify": DONE }, true, "planned", { job: "changed" }, true],
  ["present", { ...OTHER, "schedule.modify": REFUSED }, false, "the minion refuses", {}],
  ["present", { ...THERE, "schedule.build_schedule_item": REFUSED }, false, "the minion refuses", {}],
  ["absent", NONE, true, "Job job not present in schedule", {}],
  ["absent", { ...THERE, "schedule.delete": DONE }, true, "Removed job job from schedule", { job: "changed" }],
  ["absent", { ...THERE, "schedule.delete": DONE }, true, "planned", {}, true],
  ["absent", { ...THERE, "schedule.delete": REFUSED }, false, "the minion refuses", {}],
  ["enabled", NONE, true, "Job job not present in schedule", {}],
  ["enabled", { ...THERE, "schedule.enable_job": DONE }, true, "Enabled job job from schedule", {}],
  ["enabled", { ...THERE, "schedule.enable_job": REFUSED }, false, "the minion refuses", {}],
  ["disabled", { ...THERE, "schedule.disable_job": DONE }, true, "Disabled job job from schedule", {}],
  ["disabled", { ...THERE, "schedule.disable_job": DONE }, true, "planned", {}, true],
  ["disabled", { ...THERE, "schedule.disable_job": REFUSED }, false, "the minion refuses", {}],
];

for (const [i, [fun, answers, result, comment, changes, test = false]] of CASES.entries()) {
  Deno.test(`schedule.${fun}, case ${i}${test ? " in test mode" : ""}: ${comment}`, async () => {
    const tried: Value[] = [];
    const noted = Object.fromEntries(
      Object.entries(answers).map(([name, answer]) => [
        name,
        (args: readonly Value[], kwargs: ReadonlyMap<Value, Value>) => {
          if (!/list|build/.test(name)) tried.push(kwargs.get("test") ?? false);
          return typeof answer === "function" ? answer(args, new Map(kwargs)) : answer;
        },
      ]),
    );
    const args = { name: "job", function: "test.ping", seconds: 60 };
    const given = await scriptedState(`schedule.${fun}`, fun === "present" ? args : { name: "job" }, noted, { test });
    assertEquals([given.result, given.comment, given.changes], [result, comment, map(changes)]);
    // The minion is told that it is a test, and changes nothing.
    assertEquals(tried.every((one) => one === test), true);
  });
}
