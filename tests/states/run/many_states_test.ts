/**
 * A run of 10,000 states: each has a result, in the order of the file, and a failure in the middle stops no other
 * state.
 * @module
 */

import { isMap, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { openTree } from "#tests/support/calls/state_tree.ts";

const STATES = 10_000;

function field(result: Value | undefined, name: string): Value {
  return isMap(result) ? result.get(name) ?? null : null;
}

Deno.test("10,000 states in one run all have results in order, with one that fails and one that requires the last", async () => {
  const ids = Array.from({ length: STATES }, (_, i) => `s${i}`);
  const lines = ids.map((id, i) => `${id}: test.${i === STATES / 2 ? "fail_without_changes" : "nop"}\n`);
  lines[0] = `s0:\n  test.nop:\n    - require: [{test: s${STATES - 1}}]\n`;
  await using tree = await openTree({ files: { "t.sls": lines.join("") } });
  const { returned, retcode } = await tree.call("state.sls", ["t"]);
  assert(isMap(returned));
  const results = [...returned.values()];
  const inOrder = [`s${STATES - 1}`, "s0", ...ids.slice(1, -1)];
  assertEquals(results.map((result) => field(result, "__id__")), inOrder);
  assertEquals(results.map((result) => field(result, "__run_num__")), [...ids.keys()]);
  assertEquals(results.filter((result) => field(result, "result") === false).length, 1);
  assertEquals(retcode, 2);
});
