/**
 * Entries of a schedule that cannot run, each with its reason, and the moments of ranges, zones and long absences.
 * @module
 */

import { ScheduleEntryError } from "#lib/errors.ts";
import { readCron } from "#lib/schedule/cron.ts";
import { readDateText } from "#lib/schedule/date_text.ts";
import { readEntry, readSettings } from "#lib/schedule/entry.ts";
import { opensAt, readRange } from "#lib/schedule/ranges.ts";
import { cronTiming, whenTiming } from "#lib/schedule/timing.ts";
import { findZone, wallText } from "#lib/schedule/zone.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";

const NOW = Date.parse("2026-11-23T12:00:00Z"), DAY = 86_400_000;
const UTC = findZone("UTC");
assert(UTC !== undefined);

const BASE = { function: "test.ping", seconds: 5 };

const BROKEN: readonly (readonly [entry: Readonly<Record<string, unknown>>, reason: string])[] = [
  [{ function: "test.ping", minutes: "soon" }, "Invalid minutes: soon is no number."],
  [{ function: "test.ping", when: [] }, 'It has no time: "when" is empty.'],
  [{ function: "test.ping", once: 5 }, "Date string could not be parsed: 5, %Y-%m-%dT%H:%M:%S."],
  [{ ...BASE, args: "x" }, "args is not a list."],
  [{ ...BASE, kwargs: ["x"] }, "kwargs is not a dict."],
  [{ ...BASE, maxrunning: 0 }, "Invalid maxrunning: 0."],
  [{ ...BASE, missed: "always" }, "Invalid missed: always is none of run, once and skip."],
  [{ ...BASE, splay: { start: "x", end: 5 } }, "Invalid Splay: x is no number of seconds."],
  [{ ...BASE, splay: { start: 5 } }, "Invalid Splay: None is no number of seconds."],
];

for (const [entry, reason] of BROKEN) {
  Deno.test(`a job that cannot run says why: ${reason}`, () => {
    const setting = { id: "m1", whens: () => undefined, nowMs: NOW };
    const read = () => readEntry("a", map(entry), readSettings(new Map()), setting);
    assertEquals(assertThrows(read, ScheduleEntryError).message, `${reason} Ignoring job a.`);
  });
}

const OPENINGS: readonly (readonly [start: string, end: string, now: string, opens: string | undefined])[] = [
  ["8:00am", "5:00pm", "2026-11-23T18:00:00", "2026-11-24T08:00:00"],
  ["5th 8am", "5th 5pm", "2026-11-06T12:00:00", "2026-12-05T08:00:00"],
  ["Dec 1", "Dec 24", "2026-12-25T12:00:00", "2027-12-01T00:00:00"],
  ["Monday 8am", "Friday 5pm", "2026-11-24T12:00:00", "2026-11-30T08:00:00"],
  ["2026-11-01", "2026-11-02", "2026-11-23T12:00:00", undefined],
  ["5:00pm", "8:00am", "2026-11-23T18:00:00", undefined],
];

for (const [start, end, now, opens] of OPENINGS) {
  Deno.test(`a range from ${start} to ${end} opens after ${now} ${opens === undefined ? "never" : `at ${opens}`}`, () => {
    const range = readRange(map({ start, end }), "range", "");
    assert(range !== undefined);
    const found = opensAt(range, Date.parse(`${now}Z`), UTC);
    assertEquals(found === undefined ? undefined : wallText(found), opens);
  });
}

Deno.test("a date whose year is over never comes", () => {
  const date = readDateText("Dec 2020");
  assert(date !== undefined);
  assertEquals(whenTiming([date], UTC).next(NOW, NOW), undefined);
});

Deno.test("of more moments than are counted the last one is known", () => {
  const [each, rare] = ["* * * * *", "* * 1 11 *"].map((text) => {
    const cron = readCron(text, "UTC");
    assert(cron !== undefined);
    return cronTiming(cron);
  });
  assertEquals(each.passed(NOW - 2 * DAY, NOW, NOW), { count: 1_000, last: NOW });
  const last = Date.parse("2026-11-01T23:59:00Z");
  assertEquals(rare.passed(NOW - 30 * DAY, NOW, NOW), { count: 1_000, last });
});

const BERLIN: readonly (readonly [wall: string, utc: string])[] = [
  ["2026-03-29T01:30:00", "2026-03-29T00:30:00"],
  ["2026-03-29T02:30:00", "2026-03-29T01:30:00"],
  ["2026-03-29T04:30:00", "2026-03-29T02:30:00"],
  ["2026-10-25T02:30:00", "2026-10-25T00:30:00"],
  ["2026-10-25T03:30:00", "2026-10-25T02:30:00"],
];

for (const [wall, utc] of BERLIN) {
  Deno.test(`${wall} in Berlin, on a day that changes the clocks, is ${utc} in UTC`, () => {
    const zone = findZone("Europe/Berlin");
    assert(zone !== undefined);
    assertEquals(wallText(zone.moment(Date.parse(`${wall}Z`))), utc);
  });
}
