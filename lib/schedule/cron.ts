/**
 * Cron expressions: the next and the last moment of one. croner computes them; this file translates what croniter,
 * which Salt uses, reads otherwise.
 *
 * Source: croniter 7.0 and croner 11 (behaviour): a sixth field is the seconds and stands last, ranges may go over the
 * end (`fri-mon`), `?` is `*`, `L5` is the last Friday, a step over all days restricts them, also beside weekdays.
 * tests/corpus/schedule_cron.json holds croniter's answers.
 * @module
 */

import { Cron } from "croner";
import { DAYS, MONTHS } from "#lib/text/calendar.ts";

/** A cron expression in a zone. Moments are milliseconds since the epoch. */
export interface CronTimes {
  /** The first moment after `after`; `undefined`: there is none. */
  next(after: number): number | undefined;
}

/** Names for whole expressions. */
const NAMED: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/** The least and greatest number of each field, as cron orders them; the names of its numbers. */
const FIELDS: readonly { readonly min: number; readonly max: number; readonly names?: readonly string[] }[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: ["", ...MONTHS] },
  { min: 0, max: 7, names: DAYS },
  { min: 0, max: 59 },
];

/** The longest expression. */
const MAX_LENGTH = 256;

/** Reads an expression; `undefined` for what is none, and for one that no moment fits. */
export function readCron(text: string, zone: string | undefined): CronTimes | undefined {
  const parts = (NAMED[text.trim().toLowerCase()] ?? text).trim().toLowerCase().split(/\s+/);
  if (text.length > MAX_LENGTH || (parts.length !== 5 && parts.length !== 6)) return undefined;
  const fields = parts.map((part, i) => translate(part, i));
  if (!fields.every((field) => field !== undefined)) return undefined;
  const [minute, hour, day, month, weekday, second = "0"] = fields;
  // With weekdays, croniter counts a step over all days as a restriction of its own.
  const pattern = [second, minute, hour, day.startsWith("*/") ? `1-31${day.slice(1)}` : day, month, weekday].join(" ");
  try {
    const cron = new Cron(pattern, { paused: true, mode: "6-part", ...zone !== undefined && { timezone: zone } });
    const next = (after: number) => cron.nextRun(new Date(after))?.getTime();
    return next(Date.now()) === undefined ? undefined : { next };
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** A field in croner's words; `undefined`: it is none. */
function translate(text: string, place: number): string | undefined {
  // The weekday that is nearest to a day. Of days that not each month has croner knows another one.
  const near = place === 2 ? /^(?:(\d+)w|w(\d+))$/.exec(text) : null;
  if (near !== null) return withNumber(near[1] ?? near[2], place, (day) => day > 28 ? undefined : `${day}W`);
  const items = text.split(",").map((item) => translateItem(item, place));
  return items.every((item) => item !== undefined) ? items.join(",") : undefined;
}

function translateItem(item: string, place: number): string | undefined {
  const { min, max } = FIELDS[place];
  if (item === "?" && (place === 2 || place === 4)) return "*";
  if (item === "l" && place === 2) return "L";
  const last = place === 4 ? /^l([0-7])$/.exec(item) : null;
  if (last !== null) return `${last[1]}#L`;
  const nth = place === 4 ? /^([a-z]+|[0-7])#([1-5])$/.exec(item) : null;
  if (nth !== null) return withNumber(nth[1], place, (day) => `${day}#${nth[2]}`);
  const range = /^(\*|[a-z]+|\d+)(?:-([a-z]+|\d+))?(?:\/(\d+))?$/.exec(item);
  if (range === null) return undefined;
  const [, from, to, step] = range;
  if (step !== undefined && Number(step) < 1) return undefined;
  const by = step === undefined ? "" : `/${step}`;
  // A step over the end leaves the first number alone; croner refuses such.
  const isOnce = Number(step ?? 0) > max - min;
  if (from === "*") return to === undefined ? isOnce ? String(min) : `*${by}` : undefined;
  return withNumber(from, place, (first) => {
    if (to === undefined) {
      if (step === undefined || isOnce) return String(first);
      return place === 4 ? `${first % 7}-6${by}` : `${first}-${max}${by}`;
    }
    return withNumber(
      to === "l" && place === 2 ? String(max) : to,
      place,
      (end) => isOnce ? String(first) : rangeText(first, end, { min, max: place === 4 ? 6 : max, by }),
    );
  });
}

/** A range; one that goes over the end is two. With a step, its numbers are listed. */
function rangeText(
  first: number,
  end: number,
  { min, max, by }: { readonly min: number; readonly max: number; readonly by: string },
): string {
  if (first <= end) return `${first}-${end}${by}`;
  const step = Number(by.slice(1) || 1);
  const numbers: number[] = [];
  const count = max - min + 1;
  for (let n = first; n <= end + count; n += step) numbers.push(n > max ? n - count : n);
  return numbers.join(",");
}

function withNumber(
  word: string,
  place: number,
  make: (number: number) => string | undefined,
): string | undefined {
  const { min, max, names = [] } = FIELDS[place];
  const number = /^\d+$/.test(word)
    ? Number(word)
    : names.findIndex((name) => name !== "" && name.slice(0, 3).toLowerCase() === word);
  return number < min || number > max ? undefined : make(number);
}
