/**
 * When a job is due, without limits, splays and history: the moments of an interval, of dates, and of a cron
 * expression. Moments are milliseconds since the epoch.
 * Source: Salt 3008.3 `salt/utils/schedule.py` eval (_handle_time_elements, _handle_when, _handle_once, _handle_cron).
 * @module
 */

import type { CronTimes } from "./cron.ts";
import { type DateText, isWholeDate, resolveDate } from "./date_text.ts";
import { DAY_MS, dayOf, type TimeZone } from "./zone.ts";

/** The moments of a job. */
export interface JobTiming {
  /** `interval` counts from an anchor; the others are times on the wall. */
  readonly kind: "interval" | "when" | "once" | "cron";
  /** The step of an interval, in milliseconds. */
  readonly stepMs?: number;
  /** The first moment after `after`; `undefined`: there is none. `anchor` is a moment of an interval. */
  next(after: number, anchor: number): number | undefined;
  /** How many moments are in `(after, until]`, and the last of them; counts at most {@linkcode MOST_COUNTED}. */
  passed(after: number, until: number, anchor: number): Passed;
}

/** Moments that are over. */
export interface Passed {
  readonly count: number;
  /** The last of them; `undefined` if there is none. */
  readonly last: number | undefined;
}

/** Moments that were missed are counted up to this number. */
const MOST_COUNTED = 1_000;

/** The windows in which the last moment is looked for, from the shortest. */
const WINDOWS_MS = [3_600_000, DAY_MS, 32 * DAY_MS, 366 * DAY_MS, 5 * 366 * DAY_MS];

/** Days that a date without a year or month is looked for. */
const MOST_DAYS = 8 * 366;

/** Every `stepMs` milliseconds from an anchor. */
export function intervalTiming(stepMs: number): JobTiming {
  const next = (after: number, anchor: number) => anchor + (Math.floor((after - anchor) / stepMs) + 1) * stepMs;
  return {
    kind: "interval",
    stepMs,
    next,
    passed(after, until, anchor) {
      const first = next(after, anchor);
      if (first > until) return { count: 0, last: undefined };
      const more = Math.floor((until - first) / stepMs);
      return { count: Math.min(more + 1, MOST_COUNTED), last: first + more * stepMs };
    },
  };
}

/** A cron expression. */
export function cronTiming(cron: CronTimes): JobTiming {
  return searchedTiming("cron", (after) => cron.next(after));
}

/** One moment. */
export function onceTiming(moment: number): JobTiming {
  return searchedTiming("once", (after) => moment > after ? moment : undefined);
}

/** Dates and times of day in a zone. A time without a date is each day's. */
export function whenTiming(dates: readonly DateText[], zone: TimeZone): JobTiming {
  return searchedTiming("when", (after) => {
    const moments = dates.map((date) => nextDate(date, after, zone)).filter((moment) => moment !== undefined);
    return moments.length === 0 ? undefined : Math.min(...moments);
  });
}

function nextDate(date: DateText, after: number, zone: TimeZone): number | undefined {
  const today = dayOf(zone.wall(after));
  if (isWholeDate(date)) {
    const moment = momentOn(date, today, zone);
    return moment > after ? moment : undefined;
  }
  // A zone's offset may put the date a day off.
  for (let day = today - DAY_MS; day <= today + MOST_DAYS * DAY_MS; day += DAY_MS) {
    const moment = momentOn(date, day, zone);
    if (moment > after) return moment;
  }
  return undefined;
}

/** The moment that a date means on a day of the zone. */
export function momentOn(date: DateText, day: number, zone: TimeZone): number {
  const wall = resolveDate(date, day);
  return date.offset === undefined ? zone.moment(wall) : wall - date.offset * 60_000;
}

function searchedTiming(kind: JobTiming["kind"], next: (after: number) => number | undefined): JobTiming {
  return {
    kind,
    next: (after) => next(after),
    passed(after, until) {
      let count = 0, last: number | undefined;
      let moment = next(after);
      while (moment !== undefined && moment <= until && count < MOST_COUNTED) {
        count++;
        last = moment;
        moment = next(moment);
      }
      if (moment === undefined || moment > until) return { count, last };
      // There are many: the last one is looked for from the end.
      for (const window of WINDOWS_MS) {
        for (let at = next(until - window); at !== undefined && at <= until; at = next(at)) last = at;
        if (last !== undefined && last > until - window) break;
      }
      return { count, last };
    },
  };
}
