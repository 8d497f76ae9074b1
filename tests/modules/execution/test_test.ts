import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { Tuple } from "#lib/values/tuple.ts";
import { isFloat, isMap, map, repr, type Value } from "#lib/values/value.ts";
import { VERSION } from "#lib/version.ts";
import { run, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("execution", "test");

async function returned(name: string, arg: Value[] = []): Promise<Value> {
  const outcome = await run(name, arg);
  assertEquals(outcome.error, undefined);
  return outcome.return;
}

const FIBONACCI: readonly [number, Value][] = [[0, 0], [1, 1], [2, 1], [10, 55], [100, 354224848179261915075n]];

for (const [num, expected] of FIBONACCI) {
  Deno.test(`test.fib gives ${expected} for ${num}, and a float of seconds`, async () => {
    const result = await returned("test.fib", [num]);
    assert(result instanceof Tuple);
    assertEquals(result[0], expected);
    assert(isFloat(result[1]));
  });
}

Deno.test("test.arg gives a tuple of the arguments, whose text is Python's", async () => {
  assertEquals(repr(await returned("test.arg_clean", [1, "two"])), "{'args': (1, 'two'), 'kwargs': {}}");
  const written = await returned("test.arg_repr", [[1, 2]]);
  assert(isMap(written));
  assertEquals(written.get("args"), "([1, 2],)");
});

Deno.test("test.collatz gives Python's steps: floats after the first division", async () => {
  const result = await returned("test.collatz", [3]);
  assert(Array.isArray(result));
  assertEquals(
    String(JSON.stringify(result[0])),
    JSON.stringify([3, 10, ...[5, 16, 8, 4, 2].map((value) => ({ value }))]),
  );
});

for (
  const [name, arg] of [["test.fib", -1], ["test.collatz", 0], ["test.rand_sleep", -1], [
    "test.random_hash",
    -1,
  ]] as const
) {
  Deno.test(`${name} refuses ${arg}`, async () => {
    assertMatch(String((await run(name, [arg])).return), /^ERROR executing/);
  });
}

Deno.test("test.random_hash is a digest of hash_type, the minion's own by default", async () => {
  assertMatch(String(await returned("test.random_hash")), /^[0-9a-f]{64}$/);
  assertMatch(String(await returned("test.random_hash", ["hash_type=md5"])), /^[0-9a-f]{32}$/);
  assertMatch(String(await returned("test.rand_str", ["size=5", "hash_type=sha512"])), /^[0-9a-f]{128}$/);
  assert(await returned("test.random_hash") !== await returned("test.random_hash"));
  // The digests of "0" and "1", the only possible values.
  const few = new Set(await Promise.all(Array.from({ length: 40 }, () => returned("test.random_hash", [1, "md5"]))));
  assertEquals([...few].sort(), ["c4ca4238a0b923820dcc509a6f75849b", "cfcd208495d565ef66e7dff9f98764da"]);
});

Deno.test("test.sleep waits, and ends at once when the job is aborted", async () => {
  assertEquals(await returned("test.sleep", [0]), true);
  assertEquals(await returned("test.rand_sleep", ["max=0"]), true);
  const abort = new AbortController();
  const sleeping = testContext({ signal: abort.signal }).call("test.sleep", [3600]);
  abort.abort(new Error("told to end"));
  await assertRejects(() => sleeping, Error, "told to end");
});

Deno.test("test.retcode is 42 by default", async () => {
  assertEquals((await run("test.retcode")).retcode, 42);
});

Deno.test("test.raise_exception fails with the name of a Python exception that Salt does not handle specially", async () => {
  const { return: result } = await run("test.raise_exception", ["ValueError", "bad value"]);
  assertMatch(String(result), /^The minion function caused an exception: .*bad value/);
});

Deno.test("test.assertion fails for values that Python treats as false", async () => {
  for (const value of [false, null, 0, "", [], map({})]) {
    assertMatch(String((await run("test.assertion", [value])).return), /^The minion function caused an exception: /);
  }
});

Deno.test("test.version and related functions return this project's versions", async () => {
  assertEquals(await returned("test.version"), VERSION);
  const information = await returned("test.versions_information");
  assert(isMap(information) && isMap(information.get("Salt Version")));
  const report = String(await returned("test.versions_report"));
  assertStringIncludes(report, VERSION);
  assertEquals(String(await returned("test.versions")), report);
});

Deno.test("test.get_opts and test.opts_pkg return the options, user-defined ones included", async () => {
  const opts = { ...testOpts(), extra: map({ mine: 1 }) };
  const grains = map({ os: "Debian" });
  const context = testContext({ opts, grains });
  const all = await context.call("test.get_opts");
  assert(isMap(all));
  assertEquals([all.get("id"), all.get("mine"), all.has("extra"), all.has("grains")], ["web1", 1, false, true]);
  const pkg = await context.call("test.opts_pkg");
  assert(isMap(pkg));
  assertEquals(pkg.get("grains"), grains);
});

Deno.test("test.attr_call returns all grains", async () => {
  assertEquals(await testContext({ grains: map({ os: "Debian" }) }).call("test.attr_call"), map({ os: "Debian" }));
});

Deno.test("test.providers, test.not_loaded and test.module_report describe the modules", async () => {
  const providers = await returned("test.providers");
  assert(isMap(providers));
  assertEquals([providers.get("test"), providers.get("cmd")], ["test", "cmd"]);
  assertEquals(await returned("test.not_loaded"), []);
  const report = await returned("test.module_report");
  assert(isMap(report));
  const functions = report.get("functions");
  assert(Array.isArray(functions) && functions.includes("test.ping"));
});

Deno.test("test.deprecation_warning writes to the log", async () => {
  const context = testContext();
  await context.call("test.deprecation_warning");
  assertEquals(context.logged.filter((line) => line.startsWith("warning: DeprecationWarning: ")).length, 2);
});

Deno.test("test.stack shows the place of the call", async () => {
  assertStringIncludes(String(await returned("test.stack")), "call.ts");
});

for (const [fun, arg] of [["test.fib", 100_000_000], ["test.collatz", 9_007_199_254_740_991]] as const) {
  Deno.test(`${fun} of a large number ends when its job is aborted, or rejects the number`, async () => {
    const ending = new AbortController();
    const running = run(fun, [arg], testContext({ signal: ending.signal }));
    setTimeout(() => ending.abort(new Error("the job is over")), 50);
    assertMatch(String((await running).return), /the job is over|leads to numbers above/);
  });
}
