/**
 * Reactor files in Python (`#!py`): what they render to is what Salt 3008.3's `Reactor.render_reaction` gives for the
 * same files and the same event.
 * @module
 */

import { EventRenderer } from "#lib/master/reactor/event_renderer.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { map, toValue } from "#lib/values/value.ts";
import { assertEquals, assertMatch } from "#tests/support/assert.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const NAMES =
  "'tag', 'data', '__salt__', '__grains__', '__pillar__', '__opts__', '__env__', '__sls__', 'pillar', 'sls', " +
  "'saltenv', 'salt', 'opts', 'grains'";

/** Files by their names, and what Salt makes of the event `deploy/web` with the id web1 and the data version: 7. */
const FILES: Readonly<Record<string, readonly [text: string, rendered: unknown]>> = {
  py: [
    "#!py\ndef run():\n    return {'a': {'local.test.arg': [{'tgt': data['id']}, " +
    "{'arg': [tag, data['data']['version'], __salt__['own.twice'](4)]}]}}\n",
    { a: { "local.test.arg": [{ tgt: "web1" }, { arg: ["deploy/web", 7, 8] }] } },
  ],
  names: [
    `#!py\ndef run():\n    names = [${NAMES}]\n    return {'a': {'local.test.arg': [{'tgt': '*'}, ` +
    "{'arg': [all(n in globals() for n in names), __opts__['__role'], __sls__, __env__, type(data).__name__]}]}}\n",
    { a: { "local.test.arg": [{ tgt: "*" }, { arg: [true, "master", "", "base", "dict"] }] } },
  ],
  args: [
    "#!py\ndef run():\n    return {'b': {'runner.jobs.active': [{'args': {'x': tag.upper()}}]}}\n",
    { b: { "runner.jobs.active": [{ args: { x: "DEPLOY/WEB" } }] } },
  ],
  jinja: [
    "#!jinja|py\ndef run():\n    return {'c': {'local.test.arg': [{'tgt': '{{ tag }}'}]}}\n",
    { c: { "local.test.arg": [{ tgt: "{{ tag }}" }] } },
  ],
  empty: ["#!py\ndef run():\n    return {}\n", {}],
};

Deno.test("reactor files in Python get the event, and render to what Salt makes of them", () =>
  withTemporaryDirectory(async (root) => {
    Deno.mkdirSync(`${root}/ext/modules`, { recursive: true });
    Deno.writeTextFileSync(`${root}/ext/modules/own.py`, "def twice(n):\n    return 2 * n\n");
    const options = { root_dir: root, extension_modules: `${root}/ext`, id: "m" };
    Deno.writeTextFileSync(`${root}/master`, JSON.stringify(options));
    const fails = `${root}/fails.sls`;
    Deno.writeTextFileSync(fails, "#!py\ndef run():\n    return {}['absent']\n");
    for (const [name, [text]] of Object.entries(FILES)) Deno.writeTextFileSync(`${root}/${name}.sls`, text);
    const ending = new AbortController();
    const opts = loadMasterConfig({ configDir: root }).opts;
    const renderer = await EventRenderer.open(opts, { log: memoryLog().log, signal: ending.signal });
    const data = map({ id: "web1", data: { version: 7 } });
    try {
      for (const [name, [, expected]] of Object.entries(FILES)) {
        const { rendered = [], mistakes } = await renderer.render(
          { tag: "deploy/web", data, files: [`${root}/${name}.sls`] },
          true,
        );
        assertEquals([name, mistakes, rendered[0]?.data], [name, [], toValue(expected)]);
      }
      const { mistakes } = await renderer.render({ tag: "deploy/web", data, files: [fails] });
      assertMatch(mistakes[0].text, /fails\.sls", line 3, in run\n[^]*KeyError: 'absent'/);
    } finally {
      await renderer.close();
      ending.abort(new Error("the test ends"));
    }
  }));
