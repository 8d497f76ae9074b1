/**
 * The dates that the filter `strftime` reads: seconds since 1970, and texts as PHP's `strtotime` has them, whose Python
 * port Salt uses. Times have no zone: one that is written is skipped, and the words `now`, `today` and so on mean UTC,
 * as there. Source: Salt 3008.3, `salt/utils/dateutils.py`; php.net, "Supported Date and Time Formats"; timelib 0.3.0,
 * observed.
 * @module
 */

import { pythonError } from "#lib/python/errors.ts";
import { floatOf, intOf, textOf } from "#lib/python/kinds.ts";
import type { Obj } from "#lib/python/object.ts";
import { strOf } from "#lib/python/repr.ts";
import { DAYS, MONTHS } from "#lib/text/calendar.ts";

/**
 * The local time that `date` means; None means now.
 * @throws {TemplateError} ValueError for what cannot be read.
 */
export function readDate(date: Obj, now: Date = new Date()): Date {
  if (date === null) return now;
  const seconds = intOf(date) ?? floatOf(date);
  if (seconds !== undefined) return new Date(Number(seconds) * 1000);
  const text = textOf(date);
  const read = text === undefined ? undefined : fromText(text.trim(), now);
  if (read === undefined || Number.isNaN(read.getTime())) {
    throw pythonError("ValueError", `Unable to parse ${strOf(date)}`);
  }
  return read;
}

function fromText(text: string, now: Date): Date | undefined {
  if (text.startsWith("@") && /^@-?\d+$/.test(text)) return withoutZone(new Date(Number(text.slice(1)) * 1000));
  return calendarDate(text, now) ?? relativeDate(text.toLowerCase(), withoutZone(now)) ?? timestamp(text);
}

/** The fields of `time` in UTC as a local time. */
function withoutZone(time: Date): Date {
  return new Date(
    ...[time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()] as const,
    ...[time.getUTCHours(), time.getUTCMinutes(), time.getUTCSeconds()] as const,
  );
}

function timestamp(text: string): Date | undefined {
  return /^-?\d+(?:\.\d*)?$/.test(text) ? new Date(Number(text) * 1000) : undefined;
}

const MONTH_NAMES = MONTHS.map((month) => month.toLowerCase());
const MONTH = "[A-Za-z]{3,9}\\.?";
/** A time of the day, which may have a zone that does not count. */
const TIME =
  /^(?:[Tt\s]\s*|^)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(am|pm)?\s*(?:[Zz]|UTC|GMT|[+-]\d{2}:?\d{2})?$/;

/** The forms of a date at the beginning of a text, and the places of year, month and day in them. */
const FORMS: readonly (readonly [RegExp, "ymd" | "mdy" | "dmy"])[] = [
  [/^(\d{4})-(\d{1,2})-(\d{1,2})/, "ymd"],
  [/^(\d{4})\/(\d{1,2})\/(\d{1,2})/, "ymd"],
  [/^(\d{4})(\d{2})(\d{2})(?!\d)/, "ymd"],
  [/^(\d{1,2})\/(\d{1,2})\/(\d{4})/, "mdy"],
  [/^(\d{1,2})[-.](\d{1,2})[-.](\d{4})/, "dmy"],
  [new RegExp(`^(\\d{1,2})(?:st|nd|rd|th)?[ -](${MONTH})[ ,-]+(\\d{4})`), "dmy"],
  [new RegExp(`^(${MONTH}) (\\d{1,2})(?:st|nd|rd|th)?,? +(\\d{4})`), "mdy"],
];

function calendarDate(text: string, now: Date): Date | undefined {
  for (const [form, order] of FORMS) {
    const match = form.exec(text);
    if (match === null) continue;
    const field = (letter: "y" | "m" | "d") => match[order.indexOf(letter) + 1];
    const month = monthOf(field("m"));
    if (month === undefined || Number(field("d")) > 31) continue;
    return withTime(new Date(Number(field("y")), month, Number(field("d"))), text.slice(match[0].length));
  }
  const today = atMidnight(withoutZone(now));
  // Four digits alone are a time.
  const digits = /^([01]\d|2[0-4])([0-5]\d)$/.exec(text);
  return withTime(today, digits === null ? text : `${digits[1]}:${digits[2]}`, { required: true });
}

function withTime(day: Date, rest: string, options: { readonly required?: boolean } = {}): Date | undefined {
  if (rest === "") return options.required ? undefined : day;
  const [, hours, minutes, seconds = "0", half] = TIME.exec(rest) ?? [];
  if (hours === undefined) return undefined;
  const hour = half === undefined ? Number(hours) : Number(hours) % 12 + (half === "pm" ? 12 : 0);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate(), hour, Number(minutes), Number(seconds));
}

function monthOf(text: string): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) <= 12 ? Number(text) - 1 : undefined;
  const name = text.toLowerCase().replace(/\.$/, "");
  const at = MONTH_NAMES.findIndex((month) =>
    month === name || month.slice(0, 3) === name || (name === "sept" && month === "september")
  );
  return at < 0 ? undefined : at;
}

function atMidnight(time: Date): Date {
  return new Date(time.getFullYear(), time.getMonth(), time.getDate());
}

function addDays(time: Date, days: number): Date {
  const moved = new Date(time);
  moved.setDate(time.getDate() + days);
  return moved;
}

/** Milliseconds of the units that always have as many. */
const UNIT_MS: Readonly<Record<string, number>> = {
  sec: 1_000,
  second: 1_000,
  min: 60_000,
  minute: 60_000,
  hour: 3_600_000,
};
const UNIT_DAYS: Readonly<Record<string, number>> = { day: 1, week: 7, fortnight: 14 };
const UNIT_MONTHS: Readonly<Record<string, number>> = { month: 1, year: 12 };

function moveDate(time: Date, amount: number, unit: string): Date | undefined {
  if (Object.hasOwn(UNIT_MS, unit)) return new Date(time.getTime() + amount * UNIT_MS[unit]);
  if (Object.hasOwn(UNIT_DAYS, unit)) return addDays(time, amount * UNIT_DAYS[unit]);
  if (!Object.hasOwn(UNIT_MONTHS, unit)) return undefined;
  const later = new Date(time);
  later.setMonth(time.getMonth() + amount * UNIT_MONTHS[unit]);
  return later;
}

const DAY_NAMES = DAYS.map((day) => day.toLowerCase());

function relativeDate(text: string, now: Date): Date | undefined {
  const today = atMidnight(now);
  const words: Readonly<Record<string, Date>> = {
    now,
    today,
    midnight: today,
    noon: new Date(today.getTime() + 12 * UNIT_MS.hour),
    tomorrow: addDays(today, 1),
    yesterday: addDays(today, -1),
  };
  if (Object.hasOwn(words, text)) return words[text];
  const step = /^([+-]?\s*\d+|next|last|previous)\s*([a-z]+?)s?( ago)?$/.exec(text);
  const weekday = DAY_NAMES.findIndex((day) => [day, day.slice(0, 3)].includes(text.replace(/^(?:next|last) /, "")));
  if (weekday >= 0) {
    const ahead = (weekday - today.getDay() + 7) % 7;
    if (text.startsWith("last ")) return addDays(today, ahead - 7);
    return addDays(today, text.startsWith("next ") && ahead === 0 ? 7 : ahead);
  }
  if (step === null) return undefined;
  const days: Readonly<Record<string, number>> = { next: 1, last: -1, previous: -1 };
  const amount = Object.hasOwn(days, step[1]) ? days[step[1]] : Number(step[1].replace(/\s/g, ""));
  return moveDate(now, step[3] === undefined ? amount : -amount, step[2]);
}
