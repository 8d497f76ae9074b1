import type { JobContext } from "#lib/plugins/job_context.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { run, testContext, testOpts } from "#tests/support/calls/job_context.ts";

Deno.test("event.fire fires on the minion's own bus, and requires a map", async () => {
  const context = testContext();
  assertEquals(await context.call("event.fire", [map({ a: 1 }), "my/tag"]), true);
  assertEquals(context.fired, [{ tag: "my/tag", data: map({ a: 1 }) }]);
  assertStringIncludes(String((await run("event.fire", ["x", "t"])).return), "argument 'data' must be a dict");
});

/** A context whose master records its requests, and acknowledges them if the answer is None. */
function withMaster(
  more: Partial<JobContext> = {},
  answer: Value = null,
): { context: ReturnType<typeof testContext>; loads: ValueMap[] } {
  const loads: ValueMap[] = [];
  const { outside } = testContext();
  const request = (load: ValueMap): Promise<Value> => {
    loads.push(load);
    return Promise.resolve(answer);
  };
  return { context: testContext({ outside: { ...outside, request }, ...more }), loads };
}

Deno.test("event.fire_master sends Salt's _minion_event, with the fields of preload", async () => {
  const { context, loads } = withMaster();
  assertEquals(await context.call("event.fire_master", [map({ a: 1 }), "my/tag"]), true);
  await context.call("event.fire_master", ["text", "t"], map({ preload: { id: "other", extra: 1 } }));
  assertEquals(loads, [
    map({ id: "web1", tag: "my/tag", data: { a: 1 }, cmd: "_minion_event", pretag: null }),
    map({ id: "other", tag: "t", data: "text", cmd: "_minion_event", extra: 1 }),
  ]);
});

Deno.test("event.fire_master and event.send return False and log it if the master failed, also a Python master", async () => {
  for (const answer of ["", false, new Map(), map({ error: "no room" })]) {
    const { context } = withMaster({}, answer);
    assertEquals(await context.call("event.fire_master", [map({}), "t"]), false);
    assertEquals(await context.call("event.send", ["t"]), false);
    assertEquals(context.logged.length, 2);
  }
});

Deno.test("event.fire_master returns False without a master, and logs the reason", async () => {
  const context = testContext();
  assertEquals(await context.call("event.fire_master", [map({}), "t"]), false);
  const local = testContext({ opts: testOpts({ file_client: "local" }) });
  assertEquals(await local.call("event.fire_master", [map({}), "t"]), false);
  assertEquals([context.logged.length, local.logged.length], [1, 1]);
});

Deno.test("event.send collects its data: keywords, grains, pillar, options, and last the argument data", async () => {
  const { context, loads } = withMaster({ grains: map({ os: "Debian", host: "web1" }), pillar: map({ p: 1, q: 2 }) });
  const kwargs = map({
    data: { foo: "data" },
    foo: "kw",
    bar: 1,
    with_grains: ["os"],
    with_pillar: true,
    with_env_opts: true,
  });
  assertEquals(await context.call("event.send", ["my/tag"], kwargs), true);
  const expected = {
    grains: { os: "Debian" },
    pillar: { p: 1, q: 2 },
    saltenv: "base",
    pillarenv: null,
    foo: "data",
    bar: 1,
  };
  assertEquals(loads.map((load) => [load.get("tag"), load.get("data")]), [["my/tag", map(expected)]]);
});

Deno.test("event.send accepts names of environment variables, and True for all", async () => {
  Deno.env.set("MODULES_MISC_TEST", "here");
  const { context, loads } = withMaster();
  await context.call("event.send", ["t"], map({ with_env: ["MODULES_MISC_TEST"] }));
  await context.call("event.send", ["t"], map({ with_env: true }));
  Deno.env.delete("MODULES_MISC_TEST");
  assertEquals(loads[0].get("data"), map({ environ: { MODULES_MISC_TEST: "here" } }));
  const data = loads[1].get("data");
  assert(isMap(data));
  const environ = data.get("environ");
  assert(isMap(environ) && environ.has("PATH") && environ.get("MODULES_MISC_TEST") === "here");
});

Deno.test("event.send without a master fires on the minion's own bus", async () => {
  const context = testContext({ opts: testOpts({ file_client: "local" }) });
  assertEquals(await context.call("event.send", ["my/tag", map({ a: 1 })]), true);
  assertEquals(context.fired, [{ tag: "my/tag", data: map({ a: 1 }) }]);
});
