/**
 * Measures how many templates are rendered in a second of processor time: `loop` of a few users, `map` with an imported
 * map file that imports YAML. Each render uses a new environment, as each state file does. Writes `{"loop": a second,
 * "map": a second}`. The counterpart of render_templates.py.
 *
 * Arguments: an empty directory, seconds of processor time for each.
 * @module
 */

import { cpuUsage } from "node:process";
import { fileClientOf } from "#lib/files/client/open.ts";
import { renderJinja } from "#lib/jinja/salt/render_jinja.ts";
import { TextOrigin } from "#lib/plugins/text_origin.ts";
import type { RenderHost } from "#lib/plugins/renderer.ts";
import { map, str, type Value } from "#lib/values/value.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { RENDERERS, RENDERERS_NOT_BUILT } from "#modules/renderers/_built_in.ts";
import templates from "./render_templates.json" with { type: "json" };

const [root, seconds] = Deno.args;
for (const [name, text] of Object.entries(templates.files)) {
  const path = `${root}/srv/${name}`;
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  Deno.writeTextFileSync(path, text);
}
const opts = testOpts({ root_dir: root, file_client: "local", file_roots: new Map([["base", [`${root}/srv`]]]) });
const pillar = map(templates.pillar);
const functions: Readonly<Record<string, (args: Value[]) => Value>> = {
  "pillar.get": ([key, fallback = ""]) => pillar.get(key) ?? fallback,
  "grains.get": ([key]) => str(key) === "os_family" ? "Debian" : "",
};
const host: RenderHost = {
  opts: new Map(),
  grains: map({ os_family: "Debian" }),
  pillar,
  salt: { get: (name) => functions[name] },
  builtInRenderers: { table: RENDERERS, notBuilt: RENDERERS_NOT_BUILT },
  files: fileClientOf(testContext({ opts })),
  log: () => {},
};

async function render(text: string): Promise<void> {
  await renderJinja(text, TextOrigin.ofFile(text), { request: { text, sls: "web" }, host });
}

function spentSeconds(since: { user: number; system: number }): number {
  const { user, system } = cpuUsage(since);
  return (user + system) / 1e6;
}

async function rate(text: string): Promise<number> {
  await render(text);
  const before = cpuUsage();
  let count = 0;
  while (spentSeconds(before) < Number(seconds)) {
    await render(text);
    count++;
  }
  return count / spentSeconds(before);
}

const rates: Record<string, number> = {};
for (const [name, text] of Object.entries(templates.templates)) rates[name] = await rate(text);
Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(rates)}\n`));
