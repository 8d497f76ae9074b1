/** The options of a returner, and what it reads of tables and of events. */

import { InvocationError } from "#lib/errors.ts";
import { readReturnerJson, returnedEvents, returnRow } from "#lib/returners/fields.ts";
import { ReturnerOptions } from "#lib/returners/options.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";
import { returnerContext } from "#tests/support/calls/returner_context.ts";

const NAMES = ["own", "returner.own"];

Deno.test("an option is that of the job, of the configuration that the job names, or the returner's", () => {
  const context = returnerContext({
    "own": { host: "in the group" },
    "own.host": "alone",
    "returner.own.port": 1,
    "other.own.host": "of the other",
  });
  const options = (ret: Record<string, Value> = {}) => new ReturnerOptions(NAMES, context, map(ret));
  assertEquals([options().text("host"), options().integer("port")], ["in the group", 1]);
  assertEquals(options({ ret_config: "other" }).text("host"), "of the other");
  assertEquals(options({ ret_config: "other" }).integer("port"), 1);
  assertEquals(options({ ret_kwargs: map({ host: "of the job" }) }).text("host"), "of the job");
  assertThrows(() => options().required("db"), InvocationError, 'The option "own.db" is missing');
});

Deno.test("a number is a whole one of at least 0, also as a text", () => {
  const integer = (port: Value) => new ReturnerOptions(NAMES, returnerContext({ own: map({ port }) })).integer("port");
  assertEquals([integer(5), integer("5"), integer(0), integer(null)], [5, 5, 0, undefined]);
  for (const wrong of ["many", 1.5, -1, "-1", [1]]) {
    assertThrows(() => integer(wrong), InvocationError, 'The option "own.port" is no whole number: ', String(wrong));
  }
});

Deno.test("a value of a table that is no JSON is its text; what is no event is none", () => {
  assertEquals([readReturnerJson('{"a": 1}'), readReturnerJson("{a")], [map({ a: 1 }), "{a"]);
  assertEquals(returnedEvents(["text", map({ tag: "t", data: map({ n: 1 }) }), map({})]), [
    { tag: "t", data: map({ n: 1 }) },
    { tag: "", data: null },
  ]);
  assertEquals(returnRow(map({ fun: ["a.b", "c.d"], success: 1 })).fun, "a.b,c.d");
});
