import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { openTree, refusal } from "#tests/support/calls/state_tree.ts";

Deno.test("state.single names the state function that was probably meant", async () => {
  await using tree = await openTree({ files: {} });
  const called = await tree.call("state.single", ["file.managd", "/x"]);
  assertEquals(refusal(called), "1 Specified state 'file.managd' was not found");
  assertEquals(called.errorDetails, ["Did you mean file.managed?"]);
});

Deno.test("a requisite in another state that is not there names the nearest ID or name", async () => {
  const files = {
    "t.sls": "web:\n  service.running:\n    - name: nginx\na:\n  test.nop:\n    - watch_in: [{service: ngnix}]\n",
  };
  await using tree = await openTree({ files });
  const said = refusal(await tree.call("state.sls", ["t"]));
  assertStringIncludes([...tree.context.logged, said].join("\n"), "Did you mean 'nginx'?");
});
