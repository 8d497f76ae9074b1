/**
 * The names of days and months, in English; times for people.
 * @module
 */

/** Sunday is the first, as `Date` counts. */
export const DAYS: readonly string[] = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

/** January to December. */
export const MONTHS: readonly string[] =
  "January February March April May June July August September October November December".split(" ");

/**
 * A time as Salt shows it, in UTC: `2026-11-22 10:00:01`.
 * @param ms Since 1970.
 */
export function utcTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace("T", " ");
}
