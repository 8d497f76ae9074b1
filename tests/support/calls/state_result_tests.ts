/**
 * Registers the tests of states that return the same as Python Salt's, in test mode, applied and applied again, and
 * write the same files: the cases of tests/corpus/state_results, which make_state_results.py writes.
 * @module
 */

import { which } from "#lib/programs/which.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { equals, isMap, repr, str, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { casesOf, filesWithCases } from "./corpus_files.ts";
import { compareState } from "./state_results.ts";

/** Why a state cannot run here: the tables were made as root, on a host with these programs. */
function missingReason(fun: string): string | undefined {
  if (Deno.uid() !== 0) return "the rights of root";
  return fun === "file.patch" && which("patch") === undefined ? "patch" : undefined;
}

/**
 * Registers a test for each function of `module` and each file with cases of it.
 * @returns The number of tests.
 */
export function testStateResults(module: string): number {
  let count = 0;
  for (const file of filesWithCases("state_results", module)) {
    const table = parseJson(Deno.readTextFileSync(file));
    assert(isMap(table));
    const cases = table.get("cases");
    assert(Array.isArray(cases));
    const byFunction = Map.groupBy(casesOf(cases, module), (entry) => str(entry.get("fun") ?? ""));
    count += byFunction.size;
    for (const [fun, entries] of byFunction) {
      const missing = missingReason(fun);
      const note = missing === undefined ? "" : ` (not here, without ${missing})`;
      Deno.test({
        name: `${file.pathname.replace(/^.*\//, "")}: ${fun} has Salt's results, in ${entries.length} cases${note}`,
        ignore: missing !== undefined,
        fn: () => compareAll(table, entries),
      });
    }
  }
  return count;
}

async function compareAll(table: ValueMap, entries: readonly ValueMap[]): Promise<void> {
  const expectedFields: ValueMap = new Map(), came: ValueMap = new Map();
  for (const [i, entry] of entries.entries()) {
    const { expected, actual } = await compareState(table, entry);
    if (equals(expected, actual)) continue;
    const shown = `${i} ${repr(entry.get("kwargs") ?? null)} in ${repr(entry.get("tree") ?? null)}`;
    expectedFields.set(shown, expected);
    came.set(shown, actual);
  }
  assertEquals(came, expectedFields);
}
