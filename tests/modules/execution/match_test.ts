import { CommandError, InvocationError, UnavailableError } from "#lib/errors.ts";
import { callFunction } from "#lib/plugins/execution.ts";
import { dumpJson } from "#lib/values/json.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { type TestContext, testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("execution", "match");

function asMap(value: Value | undefined): ValueMap {
  assert(isMap(value));
  return value;
}

const corpus = asMap(parseJson(await Deno.readTextFile(new URL("../../corpus/match.json", import.meta.url))));

/** The minion of the corpus. */
function minion() {
  return testContext({ grains: asMap(corpus.get("grains")), pillar: asMap(corpus.get("pillar")) });
}

Deno.test("match.* and grains.filter_by return the same as Salt's", async () => {
  const cases = corpus.get("cases");
  assert(Array.isArray(cases) && cases.length > 100);
  for (const one of cases) {
    const entry = asMap(one);
    const fun = str(entry.get("fun") ?? null), args = entry.get("args"), kwargs = asMap(entry.get("kwargs"));
    assert(Array.isArray(args));
    const returned = dumpJson(await minion().call(fun, args, kwargs));
    assertEquals(returned, dumpJson(entry.get("return") ?? null), `${fun} ${repr(args)} ${repr(kwargs)}`);
  }
});

Deno.test("merging does not change the caller's table", async () => {
  const table = map({ "web*": { a: 1 } });
  await minion().call("match.filter_by", [table], map({ merge: { a: 2 } }));
  await minion().call("grains.filter_by", [map({ Debian: table })], map({ merge: { "web*": { a: 3 } } }));
  assertEquals(repr(table), "{'web*': {'a': 1}}");
});

Deno.test("match.* reject unsupported arguments by name", async () => {
  const call = (fun: string, args: Value[], kwargs: Record<string, unknown> = {}) =>
    minion().call(fun, args, map(kwargs));
  const table = map({ "web*": { a: 1 } });
  await assertRejects(() => call("match.filter_by", [table], { merge: [1] }), CommandError, "must be a dictionary");
  await assertRejects(() => call("match.filter_by", [map({ "*": 1 })], { merge: { a: 1 } }), CommandError, "non-dict");
  await assertRejects(() => call("match.filter_by", [table], { tgt_type: "nope" }), CommandError, "'nope'");
  await assertRejects(() => call("match.ifelse", ["a", 1]), CommandError, "odd number");
  await assertRejects(() => call("match.ifelse", ["a"], { minion: "b" }), InvocationError, "not valid: minion=b");
  await assertRejects(() => call("grains.filter_by", [map({ Debian: 1 })], { merge: { a: 1 } }), CommandError);
});

Deno.test("an invalid target matches nothing, and the log has the reason", async () => {
  const context = minion();
  assertEquals(await context.call("match.compound", ["web1 and"]), false);
  assertEquals(context.logged, ["error: Cannot read the compound target: a term is missing at the end"]);
});

Deno.test("match.data uses the minion's data store", async () => {
  const store = map({ spam: "eggs", list: ["Ham", 7], map: { key: 1 }, number: 7 });
  const context = minion();
  const { call } = context;
  context.call = (name, args = [], kwargs) =>
    name === "data.get" ? Promise.resolve(store.get(args[0]) ?? null) : call.call(context, name, args, kwargs);
  const nearest = ["spam:eggs", "spam:e*", "list:ham", "list:HAM", "list:7", "map:key", "spam:eggs:x"];
  const not = ["spam:ham", "spam", "map:k*", "number:7", "nope:x"];
  for (const tgt of nearest) assertEquals(await context.call("match.data", [tgt]), true, tgt);
  for (const tgt of not) assertEquals(await context.call("match.data", [tgt]), false, tgt);
});

Deno.test("match.pcre returns False for an invalid pattern, and logs the reason", async () => {
  const context = testContext();
  assertEquals(await context.call("match.pcre", ["("]), false);
  assertEquals(context.logged.length, 1);
});

Deno.test("match.data logs that there is no function for it", async () => {
  const context: TestContext = testContext({
    call: () => Promise.reject(new UnavailableError("data.get")),
  });
  assertEquals(await callFunction("match.data", { args: ["a:b"], context }), false);
  assertEquals(context.logged, ["error: 'data.get' is not available."]);
});
