/**
 * The time of the host's clock, or of one with an offset from UTC; and the formats for setting it.
 * Source: Salt 3008.3, `salt/modules/system.py`; date(1).
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { strftime } from "#lib/text/strftime.ts";

/** A local date and time. */
export interface WallClock {
  readonly years: number;
  /** From 1. */
  readonly months: number;
  readonly days: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
}

/**
 * Minutes of `+0530`.
 * @throws {InvocationError}
 */
function offsetMinutes(offset: string): number {
  const match = /^([+-])?(\d\d)(\d\d)$/.exec(offset);
  if (match === null) throw new InvocationError("Invalid UTC offset");
  return (match[1] === "-" ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3]));
}

/**
 * The time now: of the host's own clock, or of one with an offset from UTC.
 * @returns With `offset`, in minutes, if one was given.
 */
export function clockNow(utcOffset: string | null, now = new Date()): WallClock & { readonly offset?: number } {
  if (utcOffset === null) {
    return {
      years: now.getFullYear(),
      months: now.getMonth() + 1,
      days: now.getDate(),
      hours: now.getHours(),
      minutes: now.getMinutes(),
      seconds: now.getSeconds(),
    };
  }
  const offset = offsetMinutes(utcOffset);
  const [years, months, days, hours, minutes, seconds] = new Date(now.getTime() + offset * 60_000).toISOString()
    .split(/[-T:.]/).map(Number);
  return { years, months, days, hours, minutes, seconds, offset };
}

/** The time in a format of strftime. */
export function clockText({ years, months, days, hours, minutes, seconds }: WallClock, format: string): string {
  return strftime(new Date(years, months - 1, days, hours, minutes, seconds), format);
}

/** A time of the day: 11:20, 11:20:30, both with AM or PM; `undefined` if it is none. */
export function parseClock(text: string): Pick<WallClock, "hours" | "minutes" | "seconds"> | undefined {
  const match = /^(\d{1,2}):(\d{1,2})(?::(\d{1,2}))?(?:\s+([AaPp])[Mm])?$/.exec(text.trim());
  if (match === null) return undefined;
  const [hour, minutes, seconds] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
  const half = match[4]?.toLowerCase();
  if (minutes > 59 || seconds > 61 || (half === undefined ? hour > 23 : hour < 1 || hour > 12)) return undefined;
  const hours = half === undefined ? hour : hour % 12 + (half === "p" ? 12 : 0);
  return { hours, minutes, seconds };
}

/** The forms of a day, year, month and day by their places. */
const DAYS: readonly (readonly [form: RegExp, order: string])[] = [
  [/^(\d{4})-(\d{1,2})-(\d{1,2})$/, "ymd"],
  [/^(\d{1,2})-(\d{1,2})-(\d{4})$/, "mdy"],
  [/^(\d{1,2})-(\d{1,2})-(\d{2})$/, "mdy"],
  [/^(\d{1,2})\/(\d{1,2})\/(\d{4})$/, "mdy"],
  [/^(\d{1,2})\/(\d{1,2})\/(\d{2})$/, "mdy"],
  [/^(\d{4})\/(\d{1,2})\/(\d{1,2})$/, "ymd"],
];

/** A day: 2015-03-13, 03-13-2015, 03-13-15, the same with slashes; `undefined` if it is none. */
export function parseDay(text: string): Pick<WallClock, "years" | "months" | "days"> | undefined {
  for (const [form, order] of DAYS) {
    const match = form.exec(text.trim());
    if (match === null) continue;
    const of = (letter: string) => Number(match[order.indexOf(letter) + 1]);
    const [years, months, days] = [century(of("y")), of("m"), of("d")];
    if (isDay({ years, months, days })) return { years, months, days };
  }
  return undefined;
}

/** Years of two digits: 69 to 99 are of the last century, as in POSIX. */
function century(year: number): number {
  return year > 99 ? year : year < 69 ? year + 2000 : year + 1900;
}

function isDay({ years, months, days }: Pick<WallClock, "years" | "months" | "days">): boolean {
  const date = new Date(Date.UTC(years, months - 1, days));
  return date.getUTCMonth() === months - 1 && date.getUTCDate() === days;
}

/**
 * The digits for `date`, with and without seconds.
 * @param offset Minutes from UTC, which are subtracted; without it the time is the host's local time.
 * @throws {InvocationError} If there is no such time.
 */
export function dateDigits(clock: WallClock, offset?: number): { withSeconds: string; withoutSeconds: string } {
  const { years, months, days, hours, minutes, seconds } = clock;
  const fits = (value: number, max: number) => Number.isInteger(value) && value >= 0 && value <= max;
  if (!isDay(clock) || !fits(hours, 23) || !fits(minutes, 59) || !fits(seconds, 59)) {
    throw new InvocationError(`There is no such time: ${years}-${months}-${days} ${hours}:${minutes}:${seconds}`);
  }
  const utc = new Date(Date.UTC(years, months - 1, days, hours, minutes, seconds) - (offset ?? 0) * 60_000);
  const [year, month, day, hour, minute, second] = utc.toISOString().split(/[-T:.]/);
  const digits = `${month}${day}${hour}${minute}${year}`;
  return { withSeconds: `${digits}.${second}`, withoutSeconds: digits };
}
