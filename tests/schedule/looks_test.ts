/**
 * Schedules that Salt 3008.3 looked at with the clock in hand (tests/corpus/schedule_looks.json): what starts at which
 * look. Where this schedule differs on purpose, {@linkcode OWN} has its own answer and why.
 * @module
 */

import recorded from "#tests/corpus/schedule_looks.json" with { type: "json" };
import { Schedule } from "#lib/schedule/schedule.ts";
import { LOCAL_ZONE, wallText } from "#lib/schedule/zone.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

/** A case as it was recorded. */
interface Recorded {
  readonly schedule: unknown;
  readonly options?: { readonly pillar?: { readonly whens?: Readonly<Record<string, string>> } };
  /** Seconds after the first look, the jobs that start, and what Salt's look raised. */
  readonly looks: readonly (readonly [at: number, starts: readonly string[], raises?: string])[];
  readonly end: Readonly<Record<string, End>>;
}

interface End {
  /** Seconds after the first look; a date; null: none. */
  readonly next: number | string | null;
  readonly skip_reason?: string;
  readonly error?: string;
}

/** What differs from Salt on purpose: the looks at which something starts, and the end of jobs. */
interface Own {
  readonly why: string;
  readonly starts?: Readonly<Record<number, readonly string[]>>;
  readonly end?: Readonly<Record<string, End>>;
}

const NO_NEXT = "Salt's next time is a moment that is over";
const GRID = "an interval counts from its planned moments: it does not drift";
const AT_ONCE = "the next moment is known at once, not at the next look";
const NAMED = "a broken entry is named, and the others run";
const LATE = "a moment that a busy minute missed runs late";

const OWN: Readonly<Record<string, Own>> = {
  "seconds: slept through three": { why: GRID, starts: { 0: ["a"], 35: ["a"], 44: ["a"] }, end: { a: { next: 50 } } },
  "a look late by 0.6 s moves all later ones": { why: GRID, end: { a: { next: 20 } } },
  "when: missed by a busy second": { why: LATE, starts: { 6.1: ["a"] }, end: { a: { next: null } } },
  "when: one of a list missed": { why: LATE, starts: { 7: ["a"], 9.1: ["a"] }, end: { a: { next: null } } },
  "when: a name in pillar": { why: NO_NEXT, end: { a: { next: null } } },
  "when: run_on_start": { why: NO_NEXT, end: { a: { next: null } } },
  "once": { why: "it runs once", starts: { 5: ["a"] }, end: { a: { next: null } } },
  "once: loop_interval 5 runs at each look": { why: "it runs once", starts: { 5: ["a"] }, end: { a: { next: null } } },
  "once: missed": { why: LATE, starts: { 7: ["a"] }, end: { a: { next: null } } },
  "once: past": { why: NO_NEXT, end: { a: { next: null } } },
  "once_fmt": { why: NO_NEXT, end: { a: { next: null } } },
  "cron": { why: AT_ONCE, end: { a: { next: 900 } } },
  "cron: slept through": { why: AT_ONCE, end: { a: { next: 1500 } } },
  "range: within": {
    why: "the next moment is that at which the range opens, and there is none",
    end: { a: { next: null, skip_reason: "not_in_range" } },
  },
  "range: not asked at the start": {
    why: "the next moment is that at which the range opens",
    end: { a: { next: "2030-01-01T00:00:00", skip_reason: "not_in_range" } },
  },
  "range: start after end": {
    why: AT_ONCE,
    end: {
      a: {
        next: null,
        error: "schedule.handle_func: Invalid range, end must be larger than start. Ignoring job a.",
      },
    },
  },
  "range: a text": {
    why: AT_ONCE,
    end: {
      a: {
        next: null,
        error: "schedule.handle_func: Invalid, range must be specified as a dictionary.Ignoring job a.",
      },
    },
  },
  "until": { why: "it never runs again", end: { a: { next: null, skip_reason: "until_passed" } } },
  "a skip that is to come holds up all before it": {
    why: "only the named run is skipped",
    starts: { 2: ["a"], 4: ["a"], 6: ["a"], 8: ["a"], 12: ["a"], 14: ["a"] },
    end: { a: { next: 16 } },
  },
  "two kinds of time": {
    why: NAMED,
    end: {
      b: { next: null, error: 'Unable to use "when", "cron" options together. Ignoring job b.' },
      c: { next: null, error: 'Unable to use "when", "once" options together. Ignoring job c.' },
      d: {
        next: null,
        error: "It has no time: one of seconds, minutes, hours, days, when, once and cron is needed. Ignoring job d.",
      },
    },
  },
  "splay: end before start stops all": {
    why: NAMED,
    starts: { 2: ["a", "c"], 4: ["a", "c"] },
    end: { b: { next: null, error: "Invalid Splay, end must be larger than start. Ignoring job b." } },
  },
  "splay: a fixed one": { why: "the next time has its splay", end: { a: { next: 39 } } },
  "splay of all": { why: "the next time has its splay", end: { a: { next: 26 } } },
  "a job named splay stops all": {
    why: NAMED,
    starts: { 0: ["a"], 2: ["a"] },
    end: { a: { next: 4 } },
  },
  "a job that is a text stops those after it": { why: NAMED, starts: { 2: ["a", "c"] } },
  "after: no date stops those after it": {
    why: NAMED,
    starts: { 1: ["b"], 2: ["b"] },
    end: {
      a: { next: null, error: "Invalid date string x for after. Ignoring job a." },
      b: { next: 3 },
    },
  },
};

const START = Date.parse("2026-11-23T12:00:00Z") + new Date("2026-11-23T12:00:00Z").getTimezoneOffset() * 60_000;

function scheduleOf(options: Recorded["options"]): { schedule: Schedule; errors: string[] } {
  const errors: string[] = [];
  const schedule = new Schedule({
    id: "m1",
    whens: (name) => map(options?.pillar?.whens ?? {}).get(name),
    random: () => 0,
    running: () => 0,
    report: (name, error) => errors.push(`${name}: ${error}`),
  });
  return { schedule, errors };
}

/** Runs a case: the starts of each look, and the end of each job. */
function play({ schedule: written, options, looks, end }: Recorded) {
  const { schedule, errors } = scheduleOf(options);
  const value: Value = typeof written === "string" ? written : map(written as Record<string, unknown>);
  schedule.setOwn(value, START);
  const starts = looks.map(([at]) =>
    schedule.turn(START + at * 1000).map(({ job, run }) =>
      run.instead === undefined ? job.name : `${job.name}: ${run.instead}`
    )
  );
  const ends = Object.keys(end).map((name): [string, End] => {
    const item = schedule.items.get(name);
    const moment = item === undefined ? undefined : schedule.nextMoment(item);
    const far = moment !== undefined && moment > START + 2 * 86_400_000;
    return [name, {
      next: moment === undefined ? null : far ? wallText(LOCAL_ZONE.wall(moment)) : (moment - START) / 1000,
      ...item?.state.skipped && { skip_reason: item.state.skipped.reason },
      ...item?.error !== undefined && { error: item.error },
    }];
  });
  return { starts, end: Object.fromEntries(ends), errors };
}

for (const [name, given] of Object.entries(recorded as unknown as Record<string, Recorded>)) {
  const own = OWN[name];
  Deno.test(`schedule: ${name}${own === undefined ? "" : ` (${own.why})`}`, () => {
    const { starts, end } = play(given);
    const wanted = given.looks.map(([at, started]) => own?.starts === undefined ? started : own.starts[at] ?? []);
    assertEquals(starts, wanted);
    assertEquals(end, { ...given.end, ...own?.end });
  });
}

Deno.test("each own answer is of a recorded case", () => {
  assertEquals(Object.keys(OWN).filter((name) => !Object.hasOwn(recorded, name)), []);
  assertEquals(isMap(map({})), true);
});
