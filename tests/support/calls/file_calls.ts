/**
 * Modules that read and change files, compared with Salt 3008.3 on the same directories: `corpus/file_calls.json`, made
 * by `corpus/make_file_calls.py`. The results, the error texts and the trees afterwards are equal.
 * @module
 */

import { which } from "#lib/programs/which.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { repr, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { compareCase } from "./call_cases.ts";
import { casesOf, corpusFile, hasCases } from "./corpus_files.ts";

/** A case in one line, for failure messages. */
function shown(entry: ValueMap): string {
  const part = (key: string): Value => entry.get(key) ?? null;
  return `${repr(part("args"))} ${repr(part("kwargs"))} in ${repr(part("tree"))}`;
}

/** The programs that functions need, by prefixes of their names. */
const TOOLS: readonly (readonly [prefix: string, program: string])[] = [
  ["ssh.", "ssh-keygen"],
  ["file.patch", "patch"],
  [
    "archive.",
    "tar",
  ],
];

/** Why a function cannot run here: the table was made as root, on a host with these programs. */
function missingReason(name: string): string | undefined {
  if (Deno.uid() !== 0) return "the rights of root";
  return TOOLS.find(([prefix, program]) => name.startsWith(prefix) && which(program) === undefined)?.[1];
}

/**
 * Registers a test for each function of `module` that has cases.
 * @returns The number of tests.
 */
export function testFileCalls(module: string): number {
  const file = corpusFile("file_calls.json");
  if (!hasCases(file, module)) return 0;
  const all = parseJson(Deno.readTextFileSync(file));
  assert(Array.isArray(all));
  const byFunction = Map.groupBy(casesOf(all, module), (entry) => str(entry.get("fun") ?? ""));
  for (const [name, entries] of byFunction) {
    const missing = missingReason(name);
    const note = missing === undefined ? "" : ` (not here, without ${missing})`;
    Deno.test({
      name: `${name} has Salt's results, in ${entries.length} cases${note}`,
      ignore: missing !== undefined,
      fn: async () => {
        for (const entry of entries) {
          const { expected, actual } = await compareCase(entry);
          assertEquals(actual, expected, shown(entry));
        }
      },
    });
  }
  return byFunction.size;
}
