import { PythonError } from "#lib/errors.ts";
import { readDate } from "#lib/jinja/filters/dates.ts";
import { strftime } from "#lib/text/strftime.ts";
import corpus from "#tests/corpus/relative_dates.json" with { type: "json" };
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";

/** What timelib makes of words at a time in seconds since 1970: tests/corpus/make_relative_dates.py. */
for (const { now, words, time } of corpus) {
  Deno.test(`strftime reads "${words}" at ${now} as Salt's does`, () => {
    const read = () => strftime(readDate(words, new Date(now * 1000)), "%Y-%m-%d %H:%M:%S");
    if (time === null) assertThrows(read, PythonError, "Unable to parse");
    else assertEquals(read(), time);
  });
}

Deno.test("strftime of None is now", () => {
  const before = Date.now();
  const time = readDate(null).getTime();
  assert(before <= time && time <= Date.now());
});
