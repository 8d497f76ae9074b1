import { map } from "#lib/values/value.ts";
import { assertStringIncludes } from "#tests/support/assert.ts";
import { openTree, refusal } from "#tests/support/calls/state_tree.ts";

Deno.test("extend of an SLS file means its one ID, as in Salt; high data whose ID is no map is not extended", async () => {
  const [one, two] = ["x1:\n  test.nop: []\n", "x2:\n  test.nop: []\n"];
  const files = {
    "t.sls": "include: [x]\nextend: {x: {sls: [{require: [{test: a}]}]}}\na:\n  test.nop: []\n",
    "x.sls": one,
  };
  await using tree = await openTree({ files });
  assertStringIncludes(refusal(await tree.call("state.sls", ["t"])), "1 No function declared in state 'x1' in SLS 'x'");
  await tree.write({ "x.sls": one + two });
  assertStringIncludes(refusal(await tree.call("state.sls", ["t"])), "1 Cannot extend ID 'x' in 'base:t'.");
  // Salt fails: argument of type 'int' is not iterable.
  const high = map({ a: 5, __extend__: [{ a: { test: [{ foo: 1 }] } }] });
  assertStringIncludes(refusal(await tree.call("state.high", [high])), "1 Cannot extend ID 'a'");
});
