import { isMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { openTree, refusal } from "#tests/support/calls/state_tree.ts";

const A = { "t.sls": "a:\n  test.succeed_with_changes: []\n", "top.sls": "base:\n  '*': [t]\n" };

Deno.test("errors of pillar end every call that runs states, unless it forces them", async () => {
  const pillar = { _errors: ["one"] };
  await using tree = await openTree({ files: { ...A, "/x.sls": A["t.sls"] } });
  for (
    const [fun, ...args] of [["single", "test.nop", "x"], ["template", `${tree.root}/x.sls`], [
      "template_str",
      A["t.sls"],
    ]]
  ) {
    const refused = await tree.call(`state.${fun}`, args, { pillar });
    assertEquals(refusal(refused), "5 Pillar failed to render with the following messages:\none", fun);
    const forced = await tree.call(`state.${fun}`, args, { pillar, force: true });
    assertEquals([isMap(forced.returned), forced.retcode], [true, 0], fun);
  }
});

Deno.test("pillar= that is no YAML is refused with the place of the mistake", async () => {
  await using tree = await openTree({ files: A });
  const { error } = await tree.call("state.apply", ["t"], { pillar: '{"one": x' });
  assertStringIncludes(String(error), "unless pillar_enc is specified. pillar:1:");
  const { error: other } = await tree.call("state.apply", ["t"], { pillar: "text" });
  assert(String(other).endsWith("unless pillar_enc is specified."), String(other));
});
