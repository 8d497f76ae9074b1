/**
 * A configuration that names every option of Salt with its default, as programs write it that dump Salt's options, is
 * accepted.
 * @module
 */

import { loadMasterConfig, loadMinionConfig } from "#lib/config/load.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { dumpJson } from "#lib/values/json.ts";
import { isMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** The options of Salt 3008.3, made by tests/corpus/make_default_options.py. */
const DEFAULTS = parseJson(Deno.readTextFileSync(new URL("../corpus/default_options.json", import.meta.url)));

for (const [node, load] of Object.entries({ master: loadMasterConfig, minion: loadMinionConfig })) {
  Deno.test(`a ${node} accepts every option of Salt with its default`, () =>
    withTemporaryDirectory((root) => {
      const defaults = isMap(DEFAULTS) ? DEFAULTS.get(node) : undefined;
      assert(isMap(defaults) && defaults.size > 300);
      // Each is on a line of its own, so that an error would name it.
      const lines = [...defaults].map(([name, value]) => `${name}: ${dumpJson(value)}\n`);
      Deno.writeTextFileSync(`${root}/${node}`, lines.join(""));
      const { opts } = load({ configDir: root, overrides: { root_dir: root, id: "web1" } });
      assertEquals(opts.root_dir, root);
    }));
}
