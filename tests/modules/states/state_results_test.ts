/**
 * States return the same as Python Salt's, in test mode, applied and applied again, and write the same files: the cases
 * of tests/corpus/state_results, which make_state_results.py writes.
 * @module
 */

import { which } from "#lib/programs/which.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { equals, isMap, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { compareState } from "#tests/support/calls/state_results.ts";

const DIRECTORY = new URL("../../corpus/state_results/", import.meta.url);

/** Why a state cannot run here: the tables were made as root, on a host with these programs. */
function missingReason(fun: string): string | undefined {
  if (Deno.uid() !== 0) return "the rights of root";
  return fun === "file.patch" && which("patch") === undefined ? "patch" : undefined;
}

for (const { name } of [...Deno.readDirSync(DIRECTORY)].sort((a, b) => a.name < b.name ? -1 : 1)) {
  const table = parseJson(Deno.readTextFileSync(new URL(name, DIRECTORY)));
  assert(isMap(table));
  const cases: Value = table.get("cases") ?? null;
  assert(Array.isArray(cases) && cases.length > 0);
  const byFunction = Map.groupBy(cases.filter(isMap), (entry: ValueMap) => str(entry.get("fun") ?? ""));
  for (const [fun, entries] of byFunction) {
    const missing = missingReason(fun);
    const note = missing === undefined ? "" : ` (not here, without ${missing})`;
    Deno.test({
      name: `${name}: ${fun} has Salt's results, in ${entries.length} cases${note}`,
      ignore: missing !== undefined,
      fn: async () => {
        const expectedFields: ValueMap = new Map(), came: ValueMap = new Map();
        for (const [i, entry] of entries.entries()) {
          const { expected, actual } = await compareState(table, entry);
          if (equals(expected, actual)) continue;
          const shown = `${i} ${repr(entry.get("kwargs") ?? null)} in ${repr(entry.get("tree") ?? null)}`;
          expectedFields.set(shown, expected);
          came.set(shown, actual);
        }
        assertEquals(came, expectedFields);
      },
    });
  }
}
