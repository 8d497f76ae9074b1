/**
 * Dates and cron expressions against recorded answers of dateutil and croniter (tests/corpus/make_schedule.py).
 * @module
 */

import cron from "#tests/corpus/schedule_cron.json" with { type: "json" };
import dates from "#tests/corpus/schedule_dates.json" with { type: "json" };
import { readCron } from "#lib/schedule/cron.ts";
import { readDateText, resolveDate } from "#lib/schedule/date_text.ts";
import { wallText } from "#lib/schedule/zone.ts";
import { assertEquals } from "#tests/support/assert.ts";

/** The moment in UTC, as the recorded answers have it. */
function dateOf(text: string): string | null {
  const read = readDateText(text);
  if (read === undefined) return null;
  const wall = resolveDate(read, Date.parse(`${dates.now}Z`));
  const at = new Date(wall - (read.offset ?? 0) * 60_000).toISOString().replace(/\.000Z$|0*Z$/, "");
  return read.offset === undefined ? at : `${at}Z`;
}

for (const [text, wanted] of Object.entries(dates.dates)) {
  Deno.test(`the date "${text}" is what dateutil reads`, () => {
    assertEquals(dateOf(text), wanted?.replace(/(\.\d*?)0+$/, "$1") ?? null);
  });
}

Deno.test("no text, and one of more than a hundred characters, is no date", () => {
  assertEquals(["", "  ", `${" ".repeat(99)}Monday`, `Monday${",".repeat(95)}`].map(dateOf), [
    null,
    null,
    "2026-11-23T00:00:00",
    null,
  ]);
});

for (const [text, wanted] of Object.entries(cron.next)) {
  Deno.test(`cron "${text}" has croniter's moments`, () => {
    const times = readCron(text, "UTC");
    if (wanted === null || times === undefined) return assertEquals(times === undefined, wanted === null);
    const found: string[] = [];
    let at = Date.parse(`${cron.after}Z`);
    while (found.length < wanted.length) {
      const next = times.next(at);
      if (next === undefined) break;
      found.push(wallText(next));
      at = next;
    }
    assertEquals(found, wanted);
  });
}
