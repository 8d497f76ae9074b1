/**
 * State modules that return what they must not, and those with `mod_init`, `mod_aggregate` and `mod_run_check`: modules
 * of this test.
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { type Called, openTree } from "#tests/support/calls/state_tree.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { sleep } from "#lib/os/sleep.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { isMap, map, str, toValue, type Value, type ValueMap } from "#lib/values/value.ts";

type OwnStates = Readonly<Record<string, Omit<ModuleFunction<StateContext>, "doc">>>;

const good = (name: unknown, more: Record<string, unknown> = {}) =>
  map({ name, result: true, comment: "done", changes: {}, ...more });

/** Calls `state.sls` of this text, with these state functions among the host's. */
async function apply(sls: string, own: OwnStates, opts: Readonly<Record<string, Value>> = {}): Promise<Called> {
  const catalogue = loadCatalogue();
  const states = {
    ...catalogue.states,
    get: (name: string) =>
      Object.hasOwn(own, name) ? Promise.resolve({ doc: "", ...own[name] }) : catalogue.states.get(name),
  };
  await using tree = await openTree({
    files: { "t.sls": sls },
    opts,
    context: { catalogue: { ...catalogue, states } },
  });
  return await tree.call("state.sls", ["t"]);
}

/** The fields of the result of an ID. */
function resultOf({ returned }: Called, id: string): Record<string, Value> {
  assert(isMap(returned), str(returned));
  const state = [...returned].find(([tag]) => str(tag).split("_|-")[1] === id)?.[1];
  assert(state !== undefined && isMap(state), `no result of ${id} in ${[...returned.keys()].map(str)}`);
  return Object.fromEntries([...state].map(([key, value]) => [str(key), value]));
}

const state = (id: string, fun: string, ...lines: string[]) =>
  `${id}:\n  ${fun}:\n${["order: 1000", ...lines].map((line) => `    - ${line}\n`).join("")}`;

/** A state function without parameters that returns this. */
const returning = (value: unknown) => ({ params: { name: p.any() }, run: () => value });

// The texts and the name are those of `OutputUnifier` in `salt/utils/decorators/state.py` of Salt 3008.3.
const MALFORMED: readonly (readonly [what: string, returned: unknown, expected: string])[] = [
  ["a number", 5, "Malformed state return. Data must be a dictionary type."],
  ["changes that are a list", good("x", { changes: [] }), "'Changes' should be a dictionary."],
  ["no result", map({ changes: {}, name: "x" }), "The following keys were not present in the state return: "],
  [
    "a wrong result inside",
    good("x", { sub_state_run: [good("y", { changes: 1 })] }),
    "'Changes' should be a dictionary.",
  ],
];

for (const [what, returned, expected] of MALFORMED) {
  Deno.test(`a state that returns ${what} has failed, and the run goes on`, async () => {
    const called = await apply(state("a", "own.fun") + state("b", "test.nop"), { "own.fun": returning(returned) });
    const { result, comment, name } = resultOf(called, "a");
    assertEquals([result, name], [false, "later"]);
    assertStringIncludes(str(comment), expected);
    assertEquals([resultOf(called, "b").result, called.retcode], [true, 2]);
  });
}

Deno.test("check_cmd of a state that returns no map is not asked", async () => {
  const called = await apply(state("a", "own.fun", "check_cmd: 'true'"), { "own.fun": returning([1]) });
  const { result, comment } = resultOf(called, "a");
  assertEquals(result, false);
  assertStringIncludes(str(comment), "The state returned a list instead of a dict");
});

Deno.test("None for a parameter that is True or False is False", async () => {
  const own = {
    "own.fun": {
      params: { name: p.any(), flag: p.bool(true) },
      run: ({ name, flag }: Record<string, unknown>) => good(name, { comment: `flag is ${flag}` }),
    },
  };
  const called = await apply(state("a", "own.fun", "flag: null") + state("b", "own.fun"), own);
  assertEquals(["a", "b"].map((id) => resultOf(called, id).comment), ["flag is false", "flag is true"]);
});

Deno.test("results inside a result are shown beside it; one without its chunk is left out", async () => {
  const inner = {
    ...Object.fromEntries(good("inner") as Map<string, unknown>),
    low: { state: "own", fun: "x", __id__: "i", name: "i" },
  };
  const own = { "own.fun": returning(good("a", { sub_state_run: [good("nothing"), inner] })) };
  const called = await apply(state("a", "own.fun"), own);
  assertEquals(resultOf(called, "i").comment, "done");
  assert(isMap(called.returned) && called.returned.size === 2);
  assertEquals("sub_state_run" in resultOf(called, "a"), false);
});

Deno.test("a state that calls another one gets its result, or fails if it is not there or returns no map", async () => {
  const calls = (wanted: string) => ({
    params: { name: p.any() },
    run: (_: unknown, { state }: StateContext) => state(wanted, map({ name: "other" })),
  });
  const called = await apply(["good", "missing", "list"].map((id) => state(id, `own.${id}`)).join(""), {
    "own.good": calls("test.nop"),
    "own.missing": calls("own.nothing"),
    "own.list": calls("own.returns_list"),
    "own.returns_list": returning([1]),
  });
  assertEquals(resultOf(called, "good").name, "other");
  assertEquals(resultOf(called, "missing").result, false);
  assertStringIncludes(str(resultOf(called, "missing").comment), "'own.nothing' is not available");
  assertStringIncludes(str(resultOf(called, "list").comment), "own.returns_list returned a list instead of a dict");
});

Deno.test("a module with mod_run_check checks its conditions itself; mod_init runs before its first state until it is true", async () => {
  const inits: Value[] = [];
  const called = await apply(
    state("a", "own.fun", "unless: 'true'") + state("b", "own.nothere") + state("c", "own.fun") + state("d", "own.fun"),
    {
      "own.fun": {
        params: { name: p.any() },
        varKwargs: "kwargs",
        run: ({ name }: Record<string, unknown>) => good(name),
      },
      "own.mod_run_check": returning(true),
      "own.mod_init": {
        params: { low: p.any() },
        run: ({ low }: Record<string, unknown>) =>
          inits.push(isMap(low as Value) ? (low as ValueMap).get("__id__") ?? null : null) > 1,
      },
    },
  );
  assertEquals(["a", "b", "c"].map((id) => resultOf(called, id).result), [true, false, true]);
  assertEquals(inits, ["a", "c"]);
});

Deno.test("a parallel state that waited is run once, though a state that requires it has run it before its turn", async () => {
  const called = await apply(
    state("a", "cmd.run", "name: sleep 0.2", "parallel: True") +
      state("b", "test.nop", "parallel: True", "require: [a]") +
      state("c", "own.fun", "require: [b]", "order: 2000") + state("d", "test.nop", "order: 3000"),
    {
      "own.fun": returning(good("c")),
      // While it runs, a ends: c finds that b can run.
      "own.mod_init": { params: { low: p.any() }, run: () => sleep(1_000).then(() => true) },
    },
  );
  const runs = ["a", "b", "c", "d"].map((id) => resultOf(called, id).__run_num__);
  assertEquals(runs.map(Number), [0, 1, 2, 3]);
});

/** A module whose states are one call: the first one gets the names of all. */
const aggregating = (joins: (low: ValueMap) => unknown): OwnStates => ({
  "own.fun": {
    params: { name: p.any(), names_of: p.list([]) },
    varKwargs: "kwargs",
    run: ({ name, names_of }: Record<string, unknown>) =>
      good(name, { comment: `with ${(names_of as Value[]).map(str).join(" ")}` }),
  },
  "own.mod_aggregate": {
    params: { low: p.any(), chunks: p.any(), running: p.any() },
    run: ({ low, chunks }: Record<string, unknown>) => {
      const all = toValue(chunks);
      (low as ValueMap).set(
        "names_of",
        (Array.isArray(all) ? all : []).map((chunk) => isMap(chunk) ? chunk.get("name") ?? null : null),
      );
      return joins(low as ValueMap);
    },
  },
});

Deno.test("states that may be one call are required together, each once, and depend on nothing between them", async () => {
  const called = await apply(
    state("a", "own.fun") + state("b", "own.fun") + state("x", "test.succeed_with_changes", "require: [a, b]") +
      state("y", "test.nop", "require: [x]") + state("z", "test.nop", "require: [x, y]") +
      state("c", "own.fun", "require: [y, z]") + state("d", "own.fun"),
    aggregating((low) => low),
    { state_aggregate: true },
  );
  // `c` needs what needs `a` and `b`: it can be no part of their call.
  assertEquals(["a", "b", "d"].map((id) => resultOf(called, id).comment), Array(3).fill("with a b d"));
  assertEquals(resultOf(called, "c").comment, "with ");
  assertEquals(resultOf(called, "x").result, true);
});

Deno.test("a module that joins states into none leaves them as they are; one that gives them another ID ends its dependents", async () => {
  const sls = state("a", "own.fun") + state("b", "own.fun") + state("x", "test.nop", "require: [a]");
  const none = await apply(sls, aggregating(() => null), { state_aggregate: ["own"] });
  assertEquals(resultOf(none, "x").result, true);
  const renamed = await apply(sls, aggregating((low) => new Map(low).set("__id__", "other")), {
    state_aggregate: ["own"],
  });
  const { result, comment } = resultOf(renamed, "x");
  assertEquals([result, comment], [false, "Recursive requisite found"]);
});

Deno.test("a state whose requisites are skipped by another one is not run, or runs without mod_watch, as its requisite wants it", async () => {
  const changes = map({ a: 1 });
  const watched: Value[] = [];
  const called = await apply(
    state("a", "own.skips") + state("c", "test.nop", "onchanges: [a]") + state("w", "own.fun", "watch: [a]"),
    {
      "own.skips": {
        params: { name: p.any() },
        run: ({ name }: Record<string, unknown>) => good(name, { changes, skip_req: true }),
      },
      "own.fun": returning(good("w")),
      "own.mod_watch": { params: { name: p.any() }, varKwargs: "kwargs", run: () => watched.push("w") },
    },
  );
  // The texts are those of `State.call_chunk` of Salt 3008.3.
  assertEquals(resultOf(called, "c").comment, "State was not run because requisites were skipped by another state");
  assertEquals(
    resultOf(called, "w").comment,
    "done mod_watch was not run because requisites were skipped by another state",
  );
  assertEquals(watched, []);
});
