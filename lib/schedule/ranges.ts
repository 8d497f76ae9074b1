/**
 * Ranges of time in which a job may run, or may not: `range`, `skip_during_range`.
 * Source: Salt 3008.3 `salt/utils/schedule.py` _handle_range, _handle_skip_during_range.
 * @module
 */

import { ScheduleEntryError } from "#lib/errors.ts";
import { isMap, truthy, type Value } from "#lib/values/value.ts";
import { type DateText, isWholeDate, readDateText } from "./date_text.ts";
import { momentOn } from "./timing.ts";
import { DAY_MS, dayOf, type TimeZone, type WallMs } from "./zone.ts";

/** From one date or time of day to another. Both ends belong to it. */
export interface DayRange {
  readonly start: DateText;
  readonly end: DateText;
  /** Whether the job runs outside of it. */
  readonly invert: boolean;
}

/** A range on one day. */
export interface RangeOnDay {
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly end: number;
}

/** Days that the next range is looked for: a weekday comes within a week; then the first days of months. */
const MOST_DAYS = 8;

/** Months that it is looked for: a date without a year comes within one. */
const MOST_MONTHS = 12;

/**
 * Reads a range; `undefined` if there is none.
 * @throws {ScheduleEntryError}
 */
export function readRange(value: Value, key: "range" | "skip_during_range", ignoring: string): DayRange | undefined {
  if (!truthy(value)) return undefined;
  if (!isMap(value)) {
    // Salt's text of `range` has no space there.
    const gap = key === "range" ? "" : " ";
    throw new ScheduleEntryError(
      `schedule.handle_func: Invalid, range must be specified as a dictionary.${gap}${ignoring}`,
    );
  }
  const date = (end: "start" | "end"): DateText => {
    const text = value.get(end);
    const read = typeof text === "string" ? readDateText(text) : undefined;
    if (read !== undefined) return read;
    const where = key === "range" ? end : `${end} in skip_during_range`;
    throw new ScheduleEntryError(`Invalid date string for ${where}. ${ignoring}`);
  };
  return { start: date("start"), end: date("end"), invert: key === "range" && truthy(value.get("invert")) };
}

/** @throws {ScheduleEntryError} If the range of today, or of its dates, ends before it starts. */
export function checkOrder(
  range: DayRange | undefined,
  { zone, nowMs, ignoring }: { readonly zone: TimeZone; readonly nowMs: number; readonly ignoring: string },
): void {
  if (range === undefined) return;
  const { start, end } = rangeOn(range, nowMs, zone);
  if (end > start) return;
  throw new ScheduleEntryError(
    `schedule.handle_func: Invalid range, end must be larger than start. ${ignoring}`,
  );
}

/** The range on the day of a moment. */
export function rangeOn(range: DayRange, moment: number, zone: TimeZone): RangeOnDay {
  return rangeOnDay(range, dayOf(zone.wall(moment)), zone);
}

function rangeOnDay(range: DayRange, day: WallMs, zone: TimeZone): RangeOnDay {
  return { start: momentOn(range.start, day, zone), end: momentOn(range.end, day, zone) };
}

/** Whether a moment is in it; with `invert`, the ends are outside. */
export function isInRange(range: DayRange, moment: number, zone: TimeZone): boolean {
  const { start, end } = rangeOn(range, moment, zone);
  return range.invert ? start < moment && moment < end : start <= moment && moment <= end;
}

/** The first moment from `moment` on at which a job with this `range` may run; `undefined`: there is none. */
export function opensAt(range: DayRange, moment: number, zone: TimeZone): number | undefined {
  for (const day of daysFrom(dayOf(zone.wall(moment)))) {
    const { start, end } = rangeOnDay(range, day, zone);
    if (end <= start) continue;
    if (range.invert) return moment <= start || moment >= end ? moment : end;
    if (moment <= end) return Math.max(moment, start);
    if (isWholeDate(range.start)) return undefined;
  }
  return undefined;
}

/** The days on which dates of a range may mean another range. */
function* daysFrom(today: WallMs): Generator<WallMs> {
  for (let day = 0; day <= MOST_DAYS; day++) yield today + day * DAY_MS;
  const date = new Date(today);
  for (let month = 1; month <= MOST_MONTHS; month++) {
    yield Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + month, 1);
  }
}
