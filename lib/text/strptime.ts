/**
 * Python's `strptime` for times without a zone, in English.
 * Source: docs.python.org, "strftime() and strptime() Format Codes".
 * @module
 */

import { DAYS, MONTHS } from "./calendar.ts";

/** A date and time without a zone. */
export interface ClockTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  /** Seconds since 1970, as if the time were UTC. */
  readonly seconds: number;
}

const short = (names: readonly string[]) => names.map((name) => name.slice(0, 3)).join("|");

/** The regular expression for each code. */
const CODES: Readonly<Record<string, string>> = {
  d: "3[01]|[12]\\d|0[1-9]|[1-9]| [1-9]",
  f: "\\d{1,6}",
  H: "2[0-3]|[01]\\d|\\d",
  I: "1[0-2]|0[1-9]|[1-9]| [1-9]",
  j: "36[0-6]|3[0-5]\\d|[12]\\d\\d|0[1-9]\\d|00[1-9]|[1-9]\\d|0[1-9]|[1-9]",
  m: "1[0-2]|0[1-9]|[1-9]",
  M: "[0-5]\\d|\\d",
  S: "[0-5]\\d|\\d",
  U: "5[0-3]|[0-4]\\d|\\d",
  W: "5[0-3]|[0-4]\\d|\\d",
  w: "[0-6]",
  y: "\\d\\d",
  Y: "\\d\\d\\d\\d",
  A: DAYS.join("|"),
  a: short(DAYS),
  B: MONTHS.join("|"),
  b: short(MONTHS),
  p: "AM|PM",
};

/** Codes that stand for several. */
const JOINED: Readonly<Record<string, string>> = {
  c: "%a %b %d %H:%M:%S %Y",
  x: "%m/%d/%y",
  X: "%H:%M:%S",
};

/** The expression for a format; `undefined` if it has an unknown code, or one twice. */
function expressionOf(format: string): RegExp | undefined {
  const whole = format.replaceAll(/%([cxX])/g, (_code, letter: string) => JOINED[letter]);
  const seen = new Set<string>();
  let supported = true;
  const source = whole.replaceAll(/%(.?)|\s+|[\\.^$*+?(){}[\]|]/gs, (part, letter: string | undefined) => {
    if (letter === undefined) return /^\s/.test(part) ? "\\s+" : `\\${part}`;
    if (letter === "%") return "%";
    if (!Object.hasOwn(CODES, letter) || seen.has(letter)) supported = false;
    seen.add(letter);
    return `(?<${letter}>${CODES[letter] ?? ""})`;
  });
  return supported ? new RegExp(`^(?:${source})$`, "i") : undefined;
}

/**
 * Reads a time.
 * @returns `undefined` if `text` is not of the format, or there is no such day; also for a format that Python refuses.
 */
export function strptime(text: string, format: string): ClockTime | undefined {
  const groups = expressionOf(format)?.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const number = (code: string): number | undefined => groups[code] === undefined ? undefined : Number(groups[code]);
  const nameIndex = (code: string, names: readonly string[]): number | undefined => {
    const word = groups[code]?.toLowerCase();
    const at = names.findIndex((name) => word !== undefined && name.toLowerCase().startsWith(word));
    return at < 0 ? undefined : at;
  };
  const century = (year: number) => year + (year <= 68 ? 2000 : 1900);
  const short = number("y");
  const year = number("Y") ?? (short === undefined ? 1900 : century(short));
  const named0 = nameIndex("B", MONTHS) ?? nameIndex("b", MONTHS);
  const month = named0 === undefined ? number("m") ?? 1 : named0 + 1;
  const date = dateOf({
    year,
    month,
    day: number("d") ?? 1,
    ofYear: number("j"),
    weekday: nameIndex("A", DAYS) ?? nameIndex("a", DAYS) ?? number("w"),
    sundays: number("U"),
    mondays: number("W"),
  });
  if (date === undefined) return undefined;
  const half = number("I");
  const hour = half === undefined ? number("H") ?? 0 : half % 12 + (groups.p?.toLowerCase() === "pm" ? 12 : 0);
  const fraction = groups.f === undefined ? 0 : Number(groups.f.padEnd(6, "0")) / 1e6;
  const time = hour * 3600 + (number("M") ?? 0) * 60 + (number("S") ?? 0) + fraction;
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour,
    seconds: date.getTime() / 1000 + time,
  };
}

interface DateParts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** The day of the year, from 1. */
  readonly ofYear: number | undefined;
  /** 0 is Sunday. */
  readonly weekday: number | undefined;
  /** Weeks that begin on Sundays; those that begin on Mondays. */
  readonly sundays: number | undefined;
  readonly mondays: number | undefined;
}

/** Midnight of a day; `undefined` if there is no such day. */
function dateOf({ year, month, day, ofYear, weekday, sundays, mondays }: DateParts): Date | undefined {
  const weeks = sundays ?? mondays;
  let counted = ofYear;
  if (counted === undefined && weeks !== undefined && weekday !== undefined) {
    const first = new Date(Date.UTC(year, 0, 1)).getUTCDay();
    const begins = sundays === undefined ? 1 : 0;
    // Days before the first Sunday, or Monday, are in week 0.
    const toFirst = (begins - first + 7) % 7;
    counted = 1 + toFirst + (weeks - 1) * 7 + (weekday - begins + 7) % 7;
  }
  if (counted !== undefined) return new Date(Date.UTC(year, 0, counted));
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 ? date : undefined;
}
