/**
 * States of the module `file`, compared with Salt 3008.3 on the same directories: `corpus/file_states.json`, made by
 * `corpus/make_file_states.py`. In test mode, in a first and in a second run, the results and the trees afterwards are
 * equal; test mode does not change the tree.
 * @module
 */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { mapAt } from "#tests/support/calls/call_cases.ts";
import { FileStateCases } from "#tests/support/calls/file_state_cases.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, repr, str, type ValueMap } from "#lib/values/value.ts";

const corpus = parseJson(await Deno.readTextFile(new URL("../../corpus/file_states.json", import.meta.url)));
assert(Array.isArray(corpus) && corpus.length > 800);
const [common, ...entries] = corpus;
assert(isMap(common));
const settings = { served: mapAt(common, "served"), pillar: mapAt(common, "pillar"), grains: mapAt(common, "grains") };

const byFunction = new Map<string, ValueMap[]>();
for (const entry of entries) {
  assert(isMap(entry));
  const steps = entry.get("steps");
  const last = Array.isArray(steps) ? steps.at(-1) : null;
  const name = str(Array.isArray(last) ? last[0] : null);
  byFunction.set(name, [...byFunction.get(name) ?? [], entry]);
}

const asRoot = Deno.uid() === 0;
for (const [name, cases] of byFunction) {
  Deno.test({
    name: `file.${name} has Salt's results, in ${cases.length} cases${asRoot ? "" : " (not here, without root)"}`,
    ignore: !asRoot,
    fn: async () => {
      await using place = await FileStateCases.open(settings);
      for (const entry of cases) {
        const shown = `${repr(entry.get("steps") ?? null)} in ${repr(entry.get("tree") ?? null)}`;
        const outcomes = await place.run(entry);
        if (entry.has("differs")) {
          const same = outcomes.every(({ expected, actual }) => expected === actual);
          assert(!same, `does what Salt's does, and is said to differ: ${shown}`);
        } else {
          for (const { what, expected, actual } of outcomes) assertEquals(actual, expected, `${what}: ${shown}`);
        }
      }
    },
  });
}
