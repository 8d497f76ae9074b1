/**
 * Parallel states that require parallel states: they wait while the run goes on.
 * @module
 */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { openTree } from "#tests/support/calls/state_tree.ts";
import { isMap, str, type Value } from "#lib/values/value.ts";

const state = (id: string, fun: string, ...lines: string[]) =>
  `${id}:\n  ${fun}:\n${["order: 1000", ...lines].map((line) => `    - ${line}\n`).join("")}`;

const PARALLEL = "parallel: True";
const slow = (id: string, ...lines: string[]) => state(id, "cmd.run", "name: sleep 0.3", ...lines);
const failing = (id: string, ...lines: string[]) => state(id, "cmd.run", "name: 'sleep 0.3; false'", ...lines);

/**
 * `id result` of each state in the order in which they were called; results of states that were not called are absent.
 */
async function outcomes(sls: string, opts: Readonly<Record<string, Value>> = {}, id?: string): Promise<string[]> {
  await using tree = await openTree({ files: { "t.sls": sls }, opts });
  const { returned } = id === undefined
    ? await tree.call("state.sls", ["t"])
    : await tree.call("state.sls_id", [id, "t"]);
  assert(isMap(returned), str(returned));
  return [...returned.values()].filter(isMap)
    .sort((a, b) => Number(a.get("__run_num__")) - Number(b.get("__run_num__")))
    .map((result) => `${str(result.get("__id__") ?? null)} ${result.get("result")}`);
}

Deno.test("a parallel state that waits holds up neither the run nor those after it", async () => {
  assertEquals(
    await outcomes(
      slow("a", PARALLEL) + state("b", "test.nop", PARALLEL, "require: [a]") + state("c", "test.nop") +
        state("d", "test.nop", PARALLEL, "require: [b]"),
    ),
    ["a true", "c true", "b true", "d true"],
  );
});

Deno.test("a state that waits is run with one that requires it, once", async () => {
  assertEquals(
    await outcomes(
      slow("a", PARALLEL) + state("x", "test.nop") + state("c", "test.nop", "require: [x, b]", PARALLEL) +
        state("b", "test.nop", PARALLEL, "require: [a]", "order: 2000"),
    ),
    ["a true", "x true", "b true", "c true"],
  );
});

Deno.test("a state that is called by its ID waits for the parallel state that it requires", async () => {
  const sls = slow("a", PARALLEL) + state("b", "test.nop", PARALLEL, "require: [a]");
  assertEquals(await outcomes(sls, {}, "b"), ["a true", "b true"]);
});

Deno.test("a state that waited and fails ends the run with failhard, before the next state or at the end", async () => {
  const waits = failing("a", PARALLEL) + state("b", "test.nop", PARALLEL, "require: [a]", "failhard: True");
  assertEquals(await outcomes(waits), ["a false", "b false"]);
  // While c runs, a ends.
  const busy = state("c", "cmd.run", "name: sleep 0.8", "order: 2000");
  assertEquals(await outcomes(waits + busy + state("d", "test.nop", "order: 3000")), [
    "a false",
    "c true",
    "b false",
  ]);
});

Deno.test("parallel states end with their job", async () => {
  const job = new AbortController();
  const files = { "t.sls": slow("a", PARALLEL) + slow("b", PARALLEL, "require: [a]") + state("c", "test.nop") };
  await using tree = await openTree({ files, context: { signal: job.signal } });
  const called = tree.call("state.sls", ["t"]);
  setTimeout(() => job.abort(new Error("the job is ended")), 150);
  const outcome = await called.then(({ error }) => error, (error: unknown) => error);
  assertEquals(outcome instanceof Error && outcome.message.includes("the job is ended"), true, String(outcome));
});
