/**
 * Custom renderers, on a minion and for pillar.
 * @module
 */

import { CallModules } from "#lib/minion/local_call/modules.ts";
import { localPillar } from "#lib/minion/local_call/pillar.ts";
import { ownRenderer } from "#lib/render/own_renderer.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { repr, type Value } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { run, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";

/** Parses lines `name=value` into a map; other lines are an error. */
const LINES = `
export const render = {
  doc: "Lines as a map.",
  params: { data: { type: "str" }, argline: { type: "str" } },
  run: ({ data, argline }) => Object.fromEntries(
    data.split("\\n").filter((line) => line !== "" && !line.startsWith("#")).map((line) => {
      const [name, value] = line.split("=");
      if (value === undefined) throw new Error("no value in " + line);
      return [name + argline, value];
    }),
  ),
};`;

/** Returns what it may read. */
const READS = `
export const render = {
  params: { data: { type: "any" } },
  run: () => ({ text: Deno.readTextFileSync("/etc/hostname") }),
};`;

async function withRenderers(
  files: Readonly<Record<string, string>>,
  act: (show: (name: string) => Promise<Value>, root: string) => Promise<void>,
): Promise<void> {
  const root = Deno.makeTempDirSync({ prefix: "own_renderer_" });
  try {
    for (const [file, text] of Object.entries(files)) {
      const path = `${root}/${file}`;
      Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      Deno.writeTextFileSync(path, text);
    }
    const opts = testOpts({
      root_dir: root,
      extension_modules: `${root}/ext`,
      file_client: "local",
      file_roots: new Map([["base", [`${root}/salt`]]]),
      pillar_roots: new Map([["base", [`${root}/pillar`]]]),
    });
    const log = SILENT_LOGGER;
    const grains = new Map();
    await using modules = new CallModules({ opts, grains, log });
    const parts = { grains, catalogue: modules.catalogue, log, signal: new AbortController().signal };
    const { pillar } = await localPillar(opts, parts);
    const job = testContext({ opts, grains, pillar, catalogue: modules.catalogue });
    modules.enter(job);
    await act(async (name) => (await run("state.show_sls", [name], job)).return, root);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

Deno.test("a custom renderer works in a render pipe, on a minion and in pillar", () =>
  withRenderers({
    "ext/renderers/lines.js": LINES,
    "salt/b.sls": "#!lines\nonly=test.nop\n",
    "salt/wrong.sls": "#!lines\nnothing\n",
    "pillar/top.sls": "base:\n  '*': [p]\n",
    "pillar/p.sls": "#!lines\nfrom=pillar\n",
    "salt/shown.sls": "{{ pillar['from'] }}: test.nop\n",
  }, async (show) => {
    assertStringIncludes(repr(await show("b")), "{'only': {'__sls__': 'b'");
    assertStringIncludes(repr(await show("wrong")), "The renderer lines failed: no value in nothing");
    assertStringIncludes(repr(await show("shown")), "{'pillar': {'__sls__': 'shown'");
  }));

Deno.test("a custom renderer replaces a built-in one, and reports why it is not available", () =>
  withRenderers({
    "ext/renderers/json.js": LINES,
    "salt/a.sls": "#!jinja|json _x\nwith{{ 1 + 1 }}=test.nop\n",
    "salt/b.sls": "#!reads\nx\n",
    "ext/renderers/reads.js": READS,
  }, async (show) => {
    assertStringIncludes(repr(await show("a")), "{'with2_x': {'__sls__': 'a'");
    assertEquals(repr(await show("b")).includes("The renderer reads failed: Requires read access"), true);
  }));

Deno.test("a host whose catalogue has no renderers has none of its own", async () => {
  const { renderers: _, ...catalogue } = loadCatalogue();
  assertEquals(await ownRenderer("lines", testContext({ catalogue })), undefined);
});
