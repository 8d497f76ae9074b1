/**
 * The names of days and months, in English.
 * @module
 */

/** Sunday is the first, as `Date` counts. */
export const DAYS: readonly string[] = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

/** January to December. */
export const MONTHS: readonly string[] =
  "January February March April May June July August September October November December".split(" ");
