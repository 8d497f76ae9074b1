/**
 * `strptime()`, compared with Python 3.11 on the same texts.
 * @module
 */

import { strptime } from "#lib/text/strptime.ts";
import { assertEquals } from "#tests/support/assert.ts";

/** Text, format, and year, month, day, hour and seconds since 1970; null if Python refuses the text. */
const CASES: readonly (readonly [string, string, readonly number[] | null])[] = [
  ["2020-02-29 23:59:61", "%Y-%m-%d %H:%M:%S", null],
  ["2021-02-29", "%Y-%m-%d", null],
  ["20-01-02", "%y-%m-%d", [2020, 1, 2, 0, 1577923200.0]],
  ["69-01-02", "%y-%m-%d", [1969, 1, 2, 0, -31449600.0]],
  ["68-01-02", "%y-%m-%d", [2068, 1, 2, 0, 3092688000.0]],
  ["Feb 3 2020", "%b %d %Y", [2020, 2, 3, 0, 1580688000.0]],
  ["february 3 2020", "%B %d %Y", [2020, 2, 3, 0, 1580688000.0]],
  ["2020-366", "%Y-%j", [2020, 12, 31, 0, 1609372800.0]],
  ["12:05 AM", "%I:%M %p", [1900, 1, 1, 0, -2208988500.0]],
  ["12:05 PM", "%I:%M %p", [1900, 1, 1, 12, -2208945300.0]],
  ["01:05 pm", "%I:%M %p", [1900, 1, 1, 13, -2208941700.0]],
  ["2020 10 Mon", "%Y %W %a", [2020, 3, 9, 0, 1583712000.0]],
  ["2020 10 Sunday", "%Y %U %A", [2020, 3, 8, 0, 1583625600.0]],
  ["2020 00 Wed", "%Y %W %a", [2020, 1, 1, 0, 1577836800.0]],
  ["1.5", "%S.%f", [1900, 1, 1, 0, -2208988798.5]],
  ["x%y 2020", "x%%y %Y", [2020, 1, 1, 0, 1577836800.0]],
  ["2020  01", "%Y %m", [2020, 1, 1, 0, 1577836800.0]],
  ["2020-1-1x", "%Y-%m-%d", null],
  ["a.b2020", "a.b%Y", [2020, 1, 1, 0, 1577836800.0]],
  ["axb2020", "a.b%Y", null],
  ["2020", "%Q", null],
  ["20202020", "%Y%Y", null],
  ["", "%Y", null],
  ["Mon Jan  6 05:04:03 2020", "%c", [2020, 1, 6, 5, 1578287043.0]],
  ["01/06/20 05:04:03", "%x %X", [2020, 1, 6, 5, 1578287043.0]],
  ["0001-01-01", "%Y-%m-%d", [1, 1, 1, 0, -62135596800.0]],
];

for (const [text, format, expected] of CASES) {
  Deno.test(`strptime() of ${JSON.stringify(text)} by ${format} is ${JSON.stringify(expected)}`, () => {
    const time = strptime(text, format);
    const actual = time === undefined ? null : [time.year, time.month, time.day, time.hour, time.seconds];
    assertEquals(actual, expected);
  });
}
