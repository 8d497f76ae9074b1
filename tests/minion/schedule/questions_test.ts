/**
 * Questions about a minion's schedule, and its files, without a minion: what is refused, and what becomes of the jobs.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import type { MinionSchedule } from "#lib/minion/schedule/minion_schedule.ts";
import { answerScheduleQuestion, failedAnswer } from "#lib/minion/schedule/questions.ts";
import { isMap, map, str, type Value } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { assertEquals, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { HandClock, openSchedule, START } from "./open_schedule.ts";

const HOUR = 3_600_000;

/** A job that is due each hour. */
const HOURLY = { function: "test.ping", cron: "0 * * * *", timezone: "UTC" };

/** Runs `act` with the started schedule of a minion. */
function withSchedule(
  options: Partial<Parameters<typeof openSchedule>[1]>,
  act: (opened: ReturnType<typeof openSchedule> & { clock: HandClock; root: string; lines: string[] }) => void,
): Promise<void> {
  return withTemporaryDirectory((root) => {
    const clock = new HandClock(START, "boot"), { log, lines } = memoryLog();
    const opened = openSchedule(root, { clock, log, config: {}, ...options });
    try {
      opened.schedule.start();
      act({ ...opened, clock, root, lines });
    } finally {
      opened.schedule.close();
    }
  });
}

function ask(schedule: MinionSchedule, func: string, fields: Readonly<Record<string, unknown>> = {}) {
  return answerScheduleQuestion(schedule, map({ func, ...fields }))?.data;
}

/** What a preview shows of each moment. */
function preview(schedule: MinionSchedule, name: string, count: number): Value[][] {
  const rows = ask(schedule, "preview", { name, count })?.get("preview");
  const keys = ["time", "runs", "reason", "function", "error"];
  return (Array.isArray(rows) ? rows : []).map((row) => isMap(row) ? keys.map((key) => row.get(key) ?? null) : []);
}

Deno.test("questions about a schedule that cannot be answered are refused, and change nothing", () =>
  withSchedule({ config: { schedule: { a: HOURLY, broken: { function: "test.ping" } } } }, ({ schedule }) => {
    const before = ask(schedule, "job_status", { name: "a" });
    const refused: readonly (readonly [string, Readonly<Record<string, unknown>>, string])[] = [
      ["add", { schedule: "x" }, "Scheduled jobs have to be of type dict."],
      ["add", { schedule: { b: HOURLY, c: HOURLY } }, "You can only schedule one new job at a time."],
      ["reload", { schedule: ["x"] }, "Schedule must be of type dict."],
      ["run_job", { name: "broken" }, "It has no time"],
      ["skip_job", { name: "a", time: "soon" }, "Date string could not be parsed."],
      ["postpone_job", { name: "a", time: "2026-11-23T01:00:00", new_time: 5 }, "Date string could not be parsed."],
      ["preview", { name: "none" }, "Job none does not exist."],
      ["constructor", {}, 'Function "constructor" is unavailable in the schedule'],
    ];
    for (const [func, fields, text] of refused) {
      assertStringIncludes(assertThrows(() => ask(schedule, func, fields), CommandError).message, text);
    }
    assertEquals(ask(schedule, "job_status", { name: "a" }), before);
    assertEquals([...schedule.schedule.own.keys()], ["a", "broken"]);
  }));

Deno.test("the answer to a question that failed has the tag that its asker waits for", () => {
  const tags = ["modify", "enable_job", "save_schedule", "add", "toString"].map((func) => failedAnswer(map({ func })));
  assertEquals(tags.map((tag) => tag.split("/").at(-1)), [
    "minion_schedule_delete_complete",
    "minion_schedule_enabled_job_complete",
    "minion_schedule_saved",
    "minion_schedule_add_complete",
    "minion_schedule_toString_complete",
  ]);
});

Deno.test("a job that runs already is not run again, and one of pillar is not changed", () =>
  withSchedule({ config: { schedule: { a: HOURLY } }, endsByHand: true }, ({ schedule, started }) => {
    const run = () => ask(schedule, "run_job", { name: "a", _question: "1" })?.get("started");
    assertEquals([run(), run()], [true, false]);
    assertEquals(started.length, 1);
    started[0].end();
    assertEquals(run(), true);
    assertEquals(ask(schedule, "run_job", { name: "a" }), undefined);
    assertEquals(started.length, 2);
    schedule.start();
    schedule.setPillar(map({ schedule: { p: HOURLY } }));
    ask(schedule, "skip_job", { name: "p", time: "2026-11-23T01:00:00" });
    ask(schedule, "delete", { name: "p" });
    assertEquals([schedule.placeOf("p"), schedule.schedule.items.get("p")?.state.skips], ["pillar", []]);
  }));

Deno.test("a job with a returner hands the returner's configuration on", () => {
  const returns = { return_config: "alternative", return_kwargs: { db: "jobs" } };
  const jobs = { a: { ...HOURLY, ...returns, returner: "mysql" }, b: { ...HOURLY, ...returns } };
  return withSchedule({ config: { schedule: jobs } }, ({ clock, started }) => {
    clock.pass(HOUR);
    const [a, b] = started.map(({ about }) =>
      ["ret_config", "ret_kwargs"].map((key) => isMap(about) && about.get(key))
    );
    assertEquals(a, ["alternative", map({ db: "jobs" })]);
    assertEquals(b, [undefined, undefined]);
  });
});

Deno.test("the schedule is saved without being changed, and reloaded", () =>
  withSchedule({ config: { schedule: { a: { ...HOURLY, run_explicit: [] } } } }, ({ schedule, root }) => {
    ask(schedule, "reload", { schedule: { schedule: { b: HOURLY } } });
    assertEquals(ask(schedule, "save_schedule"), map({ complete: true }));
    const saved = loadYaml(Deno.readTextFileSync(`${root}/minion.d/_schedule.conf`), "saved");
    assertEquals(isMap(saved) && saved.get("schedule"), map({ a: HOURLY, b: HOURLY }));
  }));

Deno.test("a saved schedule that cannot be read is not overwritten, and changes that would do so are refused", () =>
  withTemporaryDirectory((root) => {
    const path = `${root}/minion.d/_schedule.conf`, text = "schedule: [job1, job2]\n";
    Deno.mkdirSync(`${root}/minion.d`);
    Deno.writeTextFileSync(path, text);
    const { schedule } = openSchedule(root, {
      clock: new HandClock(START, "boot"),
      config: { schedule: { a: HOURLY } },
    });
    const add = (name: string, persist: boolean) => ask(schedule, "add", { schedule: { [name]: HOURLY }, persist });
    const changes: readonly (() => unknown)[] = [
      () => add("b", true),
      () => ask(schedule, "delete", { name: "a", persist: true }),
      () => ask(schedule, "save_schedule"),
    ];
    for (const change of changes) {
      assertEquals(
        assertThrows(change, CommandError).message,
        `${path}: its "schedule" is not a map, and counts for nothing. The schedule was not changed, and the file stays: ` +
          "mend it and restart the minion, or remove it",
      );
    }
    assertEquals([Deno.readTextFileSync(path), [...schedule.schedule.own.keys()]], [text, ["a"]]);
    add("b", false);
    assertEquals([Deno.readTextFileSync(path), [...schedule.schedule.own.keys()]], [text, ["a", "b"]]);
    Deno.removeSync(path);
    add("c", true);
    const saved = loadYaml(Deno.readTextFileSync(path), "saved"), jobs = isMap(saved) && saved.get("schedule");
    assertEquals(isMap(jobs) && [...jobs.keys()], ["a", "b", "c"]);
    schedule.close();
  }));

Deno.test("a job that the configuration and the running minion changed is named", () =>
  withTemporaryDirectory((root) => {
    const clock = new HandClock(START, "boot"), { log, lines } = memoryLog();
    const first = openSchedule(root, { clock, log, config: { schedule: { a: HOURLY, b: HOURLY, c: HOURLY } } });
    ask(first.schedule, "modify", { name: "a", schedule: { ...HOURLY, args: [1] }, persist: true });
    ask(first.schedule, "delete", { name: "c", persist: true });
    first.schedule.close();
    const changed = { a: { ...HOURLY, args: [2] }, b: { ...HOURLY, args: [3] }, c: HOURLY };
    const { schedule } = openSchedule(root, { clock, log, config: { schedule: changed } });
    const args = (name: string) => schedule.schedule.items.get(name)?.job?.args;
    assertEquals([args("a"), args("b"), args("c")], [[1], [3], undefined]);
    const [line] = lines.filter((text) => text.includes("is another in"));
    assertStringIncludes(line, `The scheduled job a is another in ${root}/minion.d/_schedule.conf than in`);
    assertEquals(lines.filter((text) => text.includes("is another in")).length, 1);
    Deno.removeSync(`${root}/minion.d`, { recursive: true });
    Deno.removeSync(`${root}/minion`);
    Deno.mkdirSync(`${root}/minion`);
    assertEquals(schedule.placeOf("a"), undefined);
    assertStringIncludes(lines.at(-1) ?? "", "cannot be read again");
    schedule.close();
  }));

Deno.test("the file of missed runs may be unreadable: the jobs run, and the log says so", () =>
  withTemporaryDirectory((root) => {
    const clock = new HandClock(START, "boot"), { log, lines } = memoryLog();
    const config = { schedule: { a: { ...HOURLY, missed: "run" } } };
    const { schedule, started } = openSchedule(root, { clock, log, config });
    Deno.mkdirSync(`${root}/cache/schedule/in_it`, { recursive: true });
    schedule.start();
    clock.pass(HOUR);
    schedule.close();
    assertEquals(started.length, 1);
    const errors = lines.filter((text) => text.startsWith("ERROR "));
    assertStringIncludes(errors[0], "cannot be read, so missed runs of scheduled jobs are not known");
    assertStringIncludes(errors[1], "Missed runs of scheduled jobs would not be known after a restart");
  }));

Deno.test("a date that pillar names counts as pillar names it now", () => {
  const pillar = map({ whens: { tea: "5:00am" } });
  return withSchedule(
    { config: { schedule: { a: { function: "test.ping", when: "tea", timezone: "UTC" } } }, pillar },
    ({ schedule, clock, started }) => {
      const next = () => str(ask(schedule, "get_next_fire_time", { name: "a" })?.get("next_fire_time") ?? null);
      assertEquals(next(), "2026-11-23T05:00:00");
      pillar.set("whens", map({ tea: "3:00am" }));
      schedule.setPillar(pillar);
      assertEquals(next(), "2026-11-23T03:00:00");
      clock.pass(3 * HOUR);
      assertEquals(started.length, 1);
      assertEquals(next(), "2026-11-24T03:00:00");
      schedule.setPillar(pillar);
      assertEquals(next(), "2026-11-24T03:00:00");
    },
  );
});

Deno.test("a splay of all jobs that pillar changes counts from the next run on", () =>
  withSchedule({ config: { schedule: { a: HOURLY, splay: 0 } } }, ({ schedule }) => {
    const next = () => ask(schedule, "get_next_fire_time", { name: "a" })?.get("next_fire_time");
    assertEquals(next(), "2026-11-23T01:00:00");
    schedule.setOwn(map({ a: HOURLY, splay: { start: 60, end: 60 } }));
    assertEquals(next(), "2026-11-23T01:01:00");
  }));

Deno.test("a preview shows what limits do to each run", () => {
  const at = (time: string) => `2026-11-${time}:00+00:00`;
  const schedule = {
    until: { ...HOURLY, until: "2026-11-23T02:30:00" },
    range: { ...HOURLY, range: { start: "2:00am", end: "2:30am" } },
    rest: { ...HOURLY, skip_during_range: { start: "1:00am", end: "2:15am" }, run_after_skip_range: true },
    wait: {
      ...{ function: "test.ping", timezone: "UTC", minutes: 45, run_on_start: false },
      range: { start: "2:00am", end: "4:00am" },
    },
    splayed: { function: "test.ping", timezone: "UTC", hours: 1, splay: { start: 60, end: 61 } },
    skip_function: "test.version",
    broken: { function: "test.ping" },
  };
  return withTemporaryDirectory((root) => {
    const { schedule: minion } = openSchedule(root, { clock: new HandClock(START, "boot"), config: { schedule } });
    const shown = (name: string, count = 3) => preview(minion, name, count);
    assertEquals(shown("until"), [
      [at("23T01:00"), true, null, null, null],
      [at("23T02:00"), true, null, null, null],
      [at("23T03:00"), false, "until_passed", null, null],
    ]);
    assertEquals(shown("range"), [
      [at("23T01:00"), true, null, "test.version", null],
      [at("23T02:00"), true, null, null, null],
      [at("23T03:00"), true, null, "test.version", null],
    ]);
    assertEquals(shown("rest"), [
      [at("23T01:00"), true, null, "test.version", null],
      [at("23T02:00"), true, null, "test.version", null],
      [at("23T03:00"), true, null, null, null],
    ]);
    assertEquals(shown("splayed", 2).map(([time]) => str(time).slice(0, 15)), ["2026-11-23T00:0", "2026-11-23T01:0"]);
    assertEquals(shown("broken"), [[
      null,
      null,
      null,
      null,
      "It has no time: one of seconds, minutes, hours, days, when, once and cron is needed. Ignoring job broken.",
    ]]);
    const { skip_function: _, ...without } = schedule;
    minion.setOwn(map(without));
    assertEquals(shown("rest"), [
      [at("23T01:00"), false, "in_skip_range", null, null],
      ["2026-11-23T02:00:00+00:00", false, "in_skip_range", null, null],
      ["2026-11-23T02:15:01+00:00", true, null, null, null],
    ]);
    assertEquals(shown("wait", 2), [
      ["2026-11-23T00:45:30+00:00", false, "not_in_range", null, null],
      [at("23T02:00"), true, null, null, null],
    ]);
    assertEquals(shown("until", 5).length, 3);
    ask(minion, "postpone_job", { name: "until", time: "2026-11-23T01:00:00", new_time: "2026-11-23T01:20:00" });
    assertEquals(shown("until"), [
      [at("23T01:00"), false, "skip_explicit", null, null],
      [at("23T01:20"), true, null, null, null],
      [at("23T02:00"), true, null, null, null],
    ]);
    ask(minion, "postpone_job", { name: "wait", time: "2026-11-23T02:00:00", new_time: "2026-11-23T02:20:00" });
    minion.close();
  });
});
