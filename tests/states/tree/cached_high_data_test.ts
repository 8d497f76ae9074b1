import { isMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { openTree } from "#tests/support/calls/state_tree.ts";

const A = { "t.sls": "a:\n  test.succeed_with_changes: []\n", "top.sls": "base:\n  '*': [t]\n" };

Deno.test("high data are cached under the name of a file; a cache that cannot be written does not end the run", async () => {
  await using tree = await openTree({ files: A });
  const { error } = await tree.call("state.highstate", [], { cache_name: "../x", cache: true });
  assertStringIncludes(String(error), "cache_name: '../x' is no file name");
  const { cachedir } = tree.context.opts;
  await Deno.mkdir(`${cachedir}/mine.cache.p`, { recursive: true });
  const { returned, retcode } = await tree.call("state.highstate", [], { cache_name: "mine" });
  assert(isMap(returned) && returned.size === 1);
  assertEquals(retcode, 0);
  assert(tree.context.logged.some((line) => line.startsWith("error: The high data are not kept: ")));
});
