import { assertMatch } from "#tests/support/assert.ts";
import { openTree, refusal } from "#tests/support/calls/state_tree.ts";

const WRONG = { "t.sls": "a: [x]\n", "top.sls": "base:\n  '*': [t]\n" };

Deno.test("a graph is not drawn of files that are wrong", async () => {
  await using tree = await openTree({ files: WRONG });
  for (const called of [await tree.call("state.graph", ["t"]), await tree.call("state.graph_highstate")]) {
    assertMatch(refusal(called), /^1 ID a in SLS t is not a dictionary/);
  }
});
