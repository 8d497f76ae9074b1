/**
 * A job under Salt's headings, and the times that jobs are searched by.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { formatJob, jobFilter, parseTime } from "#lib/jobs/listing.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

Deno.test("a job's metadata are its own, else those of its publish, else those of its arguments", () => {
  const of = (fields: Record<string, unknown>) => formatJob(map({ fun: "test.ping", ...fields })).get("Metadata");
  const kwargs = { metadata: { from: "publish" } };
  const arg = ["x", { __kwarg__: true, metadata: { from: "arguments" } }];
  assertEquals(of({ metadata: { from: "job" }, kwargs, arg }), map({ from: "job" }));
  assertEquals(of({ kwargs, arg }), map({ from: "publish" }));
  assertEquals(of({ arg }), map({ from: "arguments" }));
  assertEquals([of({ arg: ["x"] }), of({ arg: "x" })], [undefined, undefined]);
});

Deno.test("a job without a load says that there is none", () => {
  const none = map({ Error: "Cannot contact returner or no job with this jid" });
  assertEquals([formatJob(undefined), formatJob(new Map())], [none, none]);
});

for (
  const [words, digits] of [
    ["2015, Mar 16 19:00", "20150316190000000000"],
    ["2015-03-16 19:00:01.5", "20150316190001500000"],
    ["2015-03-16T19:00:01,25+02:00", "20150316170001250000"],
    ["16 March 2015", "20150316000000000000"],
    ["Mar 16, 2015 7pm", "20150316190000000000"],
    ["03/16/2015 12:30 am", "20150316003000000000"],
    ["2015/3/16 12 pm", "20150316120000000000"],
    ["20150316", "20150316000000000000"],
    ["20150316190000", "20150316190000000000"],
  ]
) {
  Deno.test(`${words} is the time ${digits}`, () => assertEquals(parseTime(words), digits));
}

for (
  const words of [
    ...["yesterday", "2015-03-16 soon", "2015-02-30", "16 Foo 2015", "2015-03-16 24:00", "2015-03-16 10:61"],
    ...["2015-03-16 13 pm", "2015-03-16 0 am", "2015/03/16 19"],
  ]
) {
  Deno.test(`${words} is no time`, () => {
    assertThrows(() => parseTime(words), InvocationError, `Cannot read the time "${words}"`);
  });
}

Deno.test("metadata that are searched for must be a map", () => {
  assertThrows(() => jobFilter({ metadata: "role: web" }), InvocationError, "search_metadata must be a dictionary");
});
