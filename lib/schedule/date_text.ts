/**
 * Dates as operators write them in a schedule: `5:00pm`, `Monday 5:00pm`, `2026-01-01 10:00`, `12/25/2026 8am`,
 * `Dec 25, 2026 17:30:15`, `20261225T173015Z`. What a text leaves out comes from a given day.
 *
 * Source: dateutil 2.9's `parser.parse` (behaviour), as Salt calls it: month before day where both are possible, no
 * fuzzy text. tests/corpus/schedule_dates.json holds its answers.
 * @module
 */

import { DAYS, MONTHS } from "#lib/text/calendar.ts";
import { DAY_MS, dayOf, type WallMs } from "./zone.ts";

/** What a text says; the rest is left to the day. */
export interface DateText {
  readonly year?: number;
  /** 1 to 12. */
  readonly month?: number;
  readonly day?: number;
  /** 0 is Sunday. */
  readonly weekday?: number;
  /** Milliseconds of the day; `undefined`: none is given, which is midnight. */
  readonly time?: number;
  /** Minutes that the time is ahead of UTC, if it says so. */
  readonly offset?: number;
}

/** The fields while a text is read. */
interface Draft {
  year?: number;
  month?: number;
  day?: number;
  weekday?: number;
  time?: number;
  offset?: number;
  /** Numbers of a date whose place decides what they are. */
  readonly numbers: DateNumber[];
  /** How many of them stand before the month's name; `undefined`: no name is there. */
  monthAt?: number;
}

/** A number of a date, as it is written. */
interface DateNumber {
  readonly value: number;
  readonly digits: number;
}

const HOUR_MS = 3_600_000, MINUTE_MS = 60_000;

/** A form of a part of a date, at the start of the rest of the text. Returns whether the part is possible. */
type Form = readonly [form: RegExp, take: (draft: Draft, found: readonly string[]) => boolean];

const FORMS: readonly Form[] = [
  // 2026-01-31, 2026/1/31, 2026.1.31
  [/^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)/, (d, [, y, , m, day]) => setDate(d, +y, +m, +day)],
  // 20260131, 20260131T101530, 20260131101530
  [/^(\d{4})(\d\d)(\d\d)(?!\d(?!(?:\d{3}|\d{5})(?!\d)))/, (d, [, y, m, day]) => setDate(d, +y, +m, +day)],
  // 12/25/2026, 12-25-2026, 12.25.26: the month first, unless it is none
  [/^(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d\d)(?!\d)/, (d, [, a, , b, y]) => setMonthFirst(d, +a, +b, century(y))],
  // 25-Dec-2026
  [/^(\d{1,2})[-/]([a-z]{3,9})[-/](\d{4}|\d\d)(?!\d)/, (d, [, day, name, y]) => {
    const month = monthOf(name);
    return month !== undefined && setDate(d, century(y), month, +day);
  }],
  // 12/25
  [/^(\d{1,2})([-/])(\d{1,2})(?![\d/:-])/, (d, [, a, , b]) => setMonthFirst(d, +a, +b, undefined)],
  // 17:30, 17:30:15.25, 5:30 pm
  [
    /^(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d{1,6})\d*)?)?(?:\s*([ap])\.?m?\b\.?)?/,
    (d, [, h, m, s, f, half]) => setTime(d, [+h, +m, +(s ?? 0), +(f ?? "0").padEnd(6, "0")], half),
  ],
  // 5pm, 5 p.m.
  [/^(\d{1,2})\s*([ap])\.?m\b\.?/, (d, [, h, half]) => setTime(d, [+h, 0, 0, 0], half)],
  // 17h30m15s, 17h30
  [
    /^(\d{1,2})\s*h(?:ours?)?(?:\s*(\d{1,2})\s*m(?:in(?:utes?)?)?)?(?:\s*(\d{1,2})\s*s(?:ec(?:onds?)?)?)?(?![a-z\d])/,
    (d, [, h, m, s]) => setTime(d, [+h, +(m ?? 0), +(s ?? 0), 0]),
  ],
  [/^(\d{1,2})\s*h(\d{1,2})(?![\d:a-z])/, (d, [, h, m]) => setTime(d, [+h, +m, 0, 0])],
  // 173015, T173015, 1730, T1730 and T17, after a date
  [/^t?(\d\d)(\d\d)(\d\d)?(?!\d)/, (d, [, h, m, s]) => d.year !== undefined && setTime(d, [+h, +m, +(s ?? 0), 0])],
  [/^t(\d\d)(?!\d)/, (d, [, h]) => d.year !== undefined && setTime(d, [+h, 0, 0, 0])],
  // Z, UTC, +01:00, after a time
  [/^(?:utc|gmt|z)(?![a-z])/, (d) => d.time !== undefined && setOffset(d, 0)],
  [/^([+-])(\d\d):?(\d\d)?(?!\d)/, (d, [, sign, h, m]) => {
    const minutes = +h * 60 + +(m ?? 0);
    return d.time !== undefined && setOffset(d, sign === "-" ? -minutes : minutes);
  }],
  // Words, and numbers that are a day or a year
  [/^(\d{1,4})(?:st|nd|rd|th)?(?![\d:a-z])/, (d, [, digits]) => {
    d.numbers.push({ value: +digits, digits: digits.length });
    return d.numbers.length <= 3;
  }],
  [/^([a-z]+)\.?/, (d, [, word]) => setWord(d, word)],
];

/** Between parts. */
const GAP = /^(?:[\s,;]+|t(?=\d{1,2}:)|(?:and|at|on|of|the)(?![a-z]))/;

/** Reads a date; `undefined` for what is none. */
export function readDateText(text: string): DateText | undefined {
  const draft: Draft = { numbers: [] };
  let rest = text.toLowerCase().trim();
  if (rest === "" || rest.length > 100) return undefined;
  while (rest !== "") {
    const gap = GAP.exec(rest);
    if (gap !== null) {
      rest = rest.slice(gap[0].length);
      continue;
    }
    const taken = takePart(draft, rest);
    if (taken === 0) return undefined;
    rest = rest.slice(taken);
  }
  return finish(draft);
}

/** How many characters of `rest` are a part; 0: it begins with none. */
function takePart(draft: Draft, rest: string): number {
  for (const [form, take] of FORMS) {
    const match = form.exec(rest);
    if (match !== null && take(draft, match)) return match[0].length;
  }
  return 0;
}

function setDate(draft: Draft, year: number | undefined, month: number, day: number): boolean {
  if (draft.month !== undefined || draft.day !== undefined) return false;
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year ?? 2000, month)) return false;
  if (year !== undefined) draft.year = year;
  draft.month = month;
  draft.day = day;
  return true;
}

function setMonthFirst(draft: Draft, first: number, second: number, year: number | undefined): boolean {
  return first > 12 ? setDate(draft, year, second, first) : setDate(draft, year, first, second);
}

/** Two digits are the nearest year that ends so, as in dateutil: within fifty years. */
function century(digits: string): number {
  if (digits.length > 2) return Number(digits);
  const now = new Date().getFullYear();
  const year = Math.floor(now / 100) * 100 + Number(digits);
  return year >= now + 50 ? year - 100 : year < now - 50 ? year + 100 : year;
}

function setTime(draft: Draft, [h, m, s, micro]: readonly number[], half?: string): boolean {
  if (draft.time !== undefined || m > 59 || s > 59) return false;
  // As in dateutil, `13pm` is 13 o'clock.
  const hour = half === undefined || h > 12 ? h : h % 12 + (half === "p" ? 12 : 0);
  if (hour > 23) return false;
  draft.time = hour * HOUR_MS + m * MINUTE_MS + s * 1000 + Math.floor(micro / 1000);
  return true;
}

function setOffset(draft: Draft, minutes: number): boolean {
  if (draft.offset !== undefined || Math.abs(minutes) >= 1440) return false;
  draft.offset = minutes;
  return true;
}

function setWord(draft: Draft, word: string): boolean {
  const month = monthOf(word);
  if (month !== undefined) {
    if (draft.month !== undefined) return false;
    draft.month = month;
    draft.monthAt = draft.numbers.length;
    return true;
  }
  const weekday = DAYS.findIndex((name) => isShort(word, name));
  if (weekday < 0 || draft.weekday !== undefined) return false;
  draft.weekday = weekday;
  return true;
}

function monthOf(word: string): number | undefined {
  const at = MONTHS.findIndex((name) => isShort(word, name) || (name === "September" && word === "sept"));
  return at < 0 ? undefined : at + 1;
}

/** `mon` and `monday` are Monday. */
function isShort(word: string, name: string): boolean {
  const lower = name.toLowerCase();
  return word === lower || word === lower.slice(0, 3);
}

/** Gives the numbers without a name their places. */
function finish(draft: Draft): DateText | undefined {
  const { numbers, monthAt, ...fields } = draft;
  const places = placesOf(numbers, { ...fields, monthAt });
  if (places?.length !== numbers.length) return undefined;
  for (const [i, { value, digits }] of numbers.entries()) {
    if (places[i] === "year") fields.year = century(String(value).padStart(digits, "0"));
    else fields[places[i]] = value;
  }
  const { year, month = 1, day = 1 } = fields;
  if (month < 1 || month > 12 || day < 1 || day > 31) return undefined;
  if (year !== undefined && (year < 1 || year > 9999)) return undefined;
  if (fields.month !== undefined && day > daysIn(year ?? 2000, month)) return undefined;
  return fields;
}

/**
 * What the numbers of a date are, as in dateutil: the month before the day, and the year last, unless a number or the
 * place of the month's name says otherwise. `undefined`: they are too many.
 */
function placesOf(
  numbers: readonly DateNumber[],
  { monthAt, month, day, year }: Omit<Draft, "numbers">,
): readonly ("year" | "month" | "day")[] | undefined {
  if (numbers.length === 0) return [];
  const [first, second] = numbers.map(isYear);
  // After 12/25 there is one place left.
  if (day !== undefined) return year === undefined ? ["year"] : undefined;
  if (numbers.length === 1) return first ? ["year"] : ["day"];
  if (month !== undefined) return (monthAt === 2 ? !second : first) ? ["year", "day"] : ["day", "year"];
  if (numbers.length === 2) return first ? ["year", "month"] : second ? ["month", "year"] : ["month", "day"];
  if (first) return ["year", "month", "day"];
  return numbers[0].value > 12 ? ["day", "month", "year"] : ["month", "day", "year"];
}

/** Whether a number of a date can only be its year. */
function isYear({ value, digits }: DateNumber): boolean {
  return digits > 2 || value > 31;
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/**
 * The date and time that a text means on the day of `day`. A day that the month does not have is its last; a weekday
 * without a date is the next one, that day included.
 */
export function resolveDate(text: DateText, day: WallMs): WallMs {
  const date = new Date(dayOf(day));
  const year = text.year ?? date.getUTCFullYear(), month = text.month ?? date.getUTCMonth() + 1;
  const resolved = new Date(Date.UTC(year, month - 1, Math.min(text.day ?? date.getUTCDate(), daysIn(year, month))));
  const ahead = text.weekday === undefined || text.day !== undefined
    ? 0
    : (text.weekday - resolved.getUTCDay() + 7) % 7;
  return resolved.getTime() + ahead * DAY_MS + (text.time ?? 0);
}

/** Whether a text means one date, whatever the day. */
export function isWholeDate({ year, month, day }: DateText): boolean {
  return year !== undefined && month !== undefined && day !== undefined;
}
