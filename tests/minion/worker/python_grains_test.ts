/** What plugins of grains may ask, and what is logged when they fail. */

import { pluginGrains } from "#lib/minion/worker/python_grains.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const GRAINS = `
def own():
    import salt_bridge
    # What a library of Salt finds that fires events.
    functions = salt_bridge.JOB.dunder("__salt__")
    pillar = salt_bridge.JOB.dunder("__pillar__")
    return {"own": [__opts__["id"], __grains__["kernel"], dict(pillar), "test.ping" in functions, list(functions)]}
def asks():
    import salt_bridge
    return {"asked": salt_bridge.JOB.ask("call", fun="test.ping", args=[], kwargs={})}
`;

/** The grains of this file, and what is logged. */
async function grainsOf(text: string | undefined, options: Readonly<Record<string, Value>> = {}) {
  const warned: string[] = [];
  const grains: Value[] = [];
  await withTemporaryDirectory(async (root) => {
    for (const name of ["cache", "sock", "ext/grains"]) Deno.mkdirSync(`${root}/${name}`, { recursive: true });
    if (text !== undefined) Deno.writeTextFileSync(`${root}/ext/grains/own.py`, text);
    const opts = testOpts({
      root_dir: root,
      cachedir: `${root}/cache`,
      sock_dir: `${root}/sock`,
      extension_modules: `${root}/ext`,
      ...options,
    });
    grains.push(
      ...await pluginGrains({ opts, grains: map({ kernel: "Linux" }), warn: (line) => void warned.push(line) }),
    );
  });
  return { grains, warned };
}

Deno.test("plugins of grains have the options and the grains so far, and no pillar or functions; what else one asks is named", async () => {
  const { grains, warned } = await grainsOf(GRAINS);
  assertEquals(grains, [map({ own: ["web1", "Linux", {}, false, []] })]);
  assertEquals(warned.length, 1, warned.join("\n"));
  assertStringIncludes(warned[0], "plugins of grains cannot use call");
});

Deno.test("without plugins there is no Python; grains that take too long, or have no Python, are missing and named", async () => {
  assertEquals(await grainsOf(undefined, { python: "/no/such/python" }), { grains: [], warned: [] });
  const none = await grainsOf(GRAINS, { python: "/no/such/python" });
  assertEquals([none.grains, none.warned.length], [[], 1]);
  assertStringIncludes(none.warned[0], "The grains of plugins in Python are missing: ");
  const slow = "import time\ndef own():\n    time.sleep(60)\n";
  const { grains, warned } = await grainsOf(slow, { custom_grains_timeout: 1 });
  assertEquals(grains, []);
  assertStringIncludes(warned.join("\n"), "they took longer than 1 seconds (custom_grains_timeout), and were ended");
});
