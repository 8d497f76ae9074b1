import { isMap, map, str, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { stateContext } from "#tests/support/calls/state_call.ts";

/** The first chunk after `mod_aggregate` of a module. */
async function aggregated(module: string, chunks: ValueMap[], running: ValueMap = new Map()): Promise<ValueMap> {
  const [low] = chunks;
  const context = stateContext(`${module}.${str(low.get("fun") ?? "")}`, low);
  const fun = await context.catalogue.states.get(`${module}.mod_aggregate`);
  assert(fun !== undefined);
  const made = await fun.run({ low, chunks, running }, context, { args: [], kwargs: new Map() });
  assert(made instanceof Map);
  return made;
}

function chunk(state: string, fun: string, id: string, more: Record<string, unknown> = {}): ValueMap {
  return map({ state, fun, name: id, __id__: id, ...more });
}

Deno.test("iptables.mod_aggregate aggregates the pending rules of one function, and marks them", async () => {
  const chunks = [
    chunk("iptables", "append", "a", { __agg__: true }), // as the runtime marks the chunk that runs
    chunk("iptables", "append", "done"),
    chunk("iptables", "insert", "b"),
    chunk("pkg", "append", "c"),
    chunk("iptables", "append", "d"),
    chunk("iptables", "append", "taken", { __agg__: true }),
  ];
  const low = await aggregated("iptables", chunks, map({ "iptables_|-done_|-done_|-append": {} }));
  const rules = low.get("rules");
  assert(Array.isArray(rules));
  assertEquals(rules.map((rule) => isMap(rule) ? rule.get("name") : rule), ["a", "d"]);
  assertEquals(chunks.map((one) => one.get("__agg__") ?? false), [true, false, false, false, true, true]);
  assertEquals((await aggregated("iptables", [chunk("iptables", "delete", "x")])).has("rules"), false);
});

Deno.test("selinux.mod_aggregate aggregates the booleans of all chunks with the same persist", async () => {
  const chunks = [
    chunk("selinux", "boolean", "one", { value: "on" }),
    chunk("selinux", "boolean", "two", { booleans: ["two", { three: "off" }], value: "on" }),
    chunk("selinux", "boolean", "four", { value: "on", persist: true }),
    chunk("selinux", "mode", "enforcing"),
  ];
  const low = await aggregated("selinux", chunks);
  assertEquals(low.get("booleans"), map({ one: "on", two: "on", three: "off" }));
  assertEquals(chunks.map((one) => one.get("__agg__") ?? false), [true, true, false, false]);
});

Deno.test("a chunk of another function, or the only chunk, is returned unchanged", async () => {
  const alone = (state: string, fun: string, chunks: ValueMap[] = []) =>
    aggregated(state, [chunk(state, fun, "x"), ...chunks]);
  const cases: readonly (readonly [state: string, fun: string])[] = [
    ["iptables", "append"],
    ["iptables", "delete"],
    ["selinux", "mode"],
    ["pkg", "uptodate"],
    ["pkg", "installed"],
  ];
  for (const [state, fun] of cases) {
    assertEquals(await alone(state, fun), chunk(state, fun, "x"), `${state}.${fun}`);
  }
  const taken = chunk("selinux", "boolean", "y", { __agg__: true });
  assertEquals((await alone("selinux", "boolean", [taken])).get("booleans"), map({ x: null }));
  const done = map({ "selinux_|-y_|-y_|-boolean": {} });
  const low = await aggregated("selinux", [chunk("selinux", "boolean", "x"), chunk("selinux", "boolean", "y")], done);
  assertEquals(low.get("booleans"), map({ x: null }));
});
