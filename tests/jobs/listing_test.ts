/**
 * A job under Salt's headings.
 * @module
 */

import { formatJob } from "#lib/jobs/listing.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("a job's metadata are its own, else those of its publish, else those of its arguments", () => {
  const of = (fields: Record<string, unknown>) => formatJob(map({ fun: "test.ping", ...fields })).get("Metadata");
  const kwargs = { metadata: { from: "publish" } };
  const arg = ["x", { __kwarg__: true, metadata: { from: "arguments" } }];
  assertEquals(of({ metadata: { from: "job" }, kwargs, arg }), map({ from: "job" }));
  assertEquals(of({ kwargs, arg }), map({ from: "publish" }));
  assertEquals(of({ arg }), map({ from: "arguments" }));
  assertEquals([of({ arg: ["x"] }), of({ arg: "x" })], [undefined, undefined]);
});
