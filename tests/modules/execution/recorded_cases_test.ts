/**
 * The recorded cases of each module are run by the test file with the module's name, and by no other.
 * @module
 */

import { sourceFiles } from "#scripts/source_files.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, str, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { corpusFile } from "#tests/support/calls/corpus_files.ts";

const ROOT = decodeURIComponent(new URL("../../../", import.meta.url).pathname);

/** The corpora of many modules, by family. */
const CORPORA: Readonly<Record<string, readonly string[]>> = {
  execution: ["program_calls/", "own_program_calls/", "scripted_programs.json", "modules.json", "file_calls.json"],
  states: ["state_program_calls/", "state_answers/", "state_results/"],
};
/** Corpora with a file for each module; of the situations, two families are of subjects. */
const BY_NAME: readonly string[] = ["state_runs", "state_situations"];
const SUBJECTS: readonly string[] = ["run", "tree"];

function modulesOf(text: string): Set<string> {
  const table = parseJson(text);
  const cases: Value = isMap(table) ? table.get("cases") ?? null : table;
  assert(Array.isArray(cases));
  return new Set(cases.filter(isMap).map((one) => str(one.get("fun") ?? "").split(".")[0]));
}

function recordedModules(family: string): Set<string> {
  const files = CORPORA[family].flatMap((name) =>
    name.endsWith("/") ? sourceFiles(corpusFile(name).pathname, ".json").map((file) => `${name}${file}`) : [name]
  );
  const modules = files.flatMap((name) => [...modulesOf(Deno.readTextFileSync(corpusFile(name)))]);
  const named = family !== "states"
    ? []
    : BY_NAME.flatMap((folder) =>
      sourceFiles(corpusFile(folder).pathname, ".json").map((file) => file.replace(/\.json$/, ""))
    );
  return new Set([...modules, ...named.filter((name) => !SUBJECTS.includes(name))]);
}

for (const family of Object.keys(CORPORA)) {
  Deno.test(`modules/${family}: each module's recorded cases are run by the test file with its name`, () => {
    const folder = `tests/modules/${family}`;
    const running = sourceFiles(`${ROOT}${folder}`, "_test.ts").flatMap((file) => {
      const text = Deno.readTextFileSync(`${ROOT}${folder}/${file}`);
      return [...text.matchAll(/^testRecordedCases\("(\w+)", "(\w+)"\);$/gm)].map(([, of, name]) =>
        `${file} ${of} ${name}`
      );
    });
    const expected = [...recordedModules(family)].sort().map((name) => `${name}_test.ts ${family} ${name}`);
    assert(expected.length > 50);
    assertEquals(running.sort(), expected.sort());
  });
}
