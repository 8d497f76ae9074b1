/**
 * Updates start_functions.json: the functions that usual starts of the programs call, which executables compile ahead
 * (eager_functions.ts). A function that is missing in the list only costs a start the time to compile it, so the list
 * need not be updated after each change.
 *
 *     deno run -A scripts/fleet/start_functions.ts
 *
 * It runs the scripts of an executable, and V8 logs which functions it compiles while a fleet starts and answers.
 * @module
 */

import { bundle, type CalledFunctions, isOf } from "#scripts/build/bundle.ts";
import { type FunctionNames, sourceAt, topFunctions } from "#scripts/build/eager_functions.ts";
import { LIBRARIES, SCRIPT_SOURCES, STARTS } from "#scripts/build/production.ts";
import { placesIn } from "#scripts/build/source_map.ts";
import { addPackages, runUsualStarts, v8LogFields } from "./usual_starts.ts";
import { writeOut } from "#lib/commands/cli/process_io.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

/** The path of the list. */
const LIST = `${ROOT}/scripts/build/start_functions.json`;

/**
 * The end offsets of the compiled functions, by file. A function is identified by its end and by the start of its
 * parameters.
 */
function compiledIn(logs: string): Map<string, Set<string>> {
  const compiled = new Map<string, Set<string>>();
  for (const lines of v8LogFields(logs)) {
    const files = new Map<string, string>();
    for (const [kind, id, url] of lines) if (kind === "script-details") files.set(id, url.replace(/^.*\//, ""));
    for (const [kind, event, id, start, end] of lines) {
      const file = files.get(id);
      if (kind !== "function" || event !== "interpreter" || file === undefined) continue;
      const ranges = compiled.get(file) ?? new Set();
      compiled.set(file, ranges.add(`${start} ${end}`));
    }
  }
  return compiled;
}

/** The names of the compiled functions of one file of `stage`. */
function namesIn(stage: string, file: string, compiled: ReadonlySet<string>): FunctionNames {
  const code = Deno.readTextFileSync(`${stage}/${file}`);
  const { mappings, sources }: { mappings: string; sources: string[] } = JSON.parse(
    Deno.readTextFileSync(`${stage}/${file}.map`),
  );
  const places = placesIn(mappings, code);
  const names: Record<string, string[]> = {};
  for (const { node, name, nameStart } of topFunctions(code)) {
    if (!compiled.has(`${nameStart + name.length} ${node.end}`)) continue;
    const source = sources[sourceAt(places, node.start)];
    if (source !== undefined) (names[source] ??= []).push(name.replace(/\$\d+$/, ""));
  }
  return names;
}

async function main(): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "salt_starts_" });
  try {
    const [stage, logs] = [`${directory}/stage`, `${directory}/logs`];
    await Deno.mkdir(logs);
    await bundle(ROOT, await makeDirectory(stage), SCRIPT_SOURCES, { starts: STARTS, libraries: LIBRARIES });
    await addPackages(stage);
    await runUsualStarts({ directory, stage, logs });
    const all: Record<string, Record<string, string[]>> = {};
    let count = 0;
    for (const [file, compiled] of compiledIn(logs)) {
      // Files that only re-export have no map.
      if (!await isThere(`${stage}/${file}.map`)) continue;
      const script = SCRIPT_SOURCES.find((source) => isOf(source, file));
      if (script === undefined) continue;
      for (const [source, names] of Object.entries(namesIn(stage, file, compiled))) {
        ((all[script] ??= {})[source] ??= []).push(...names);
        count += names.length;
      }
    }
    if (count === 0) throw new Error("V8 wrote down no function");
    await Deno.writeTextFile(LIST, JSON.stringify(sortTable(all), null, 2) + "\n");
    writeOut(`${count} functions of ${Object.keys(all).length} scripts\n`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** Sorts the list, so that it does not depend on the order of V8's logs. */
function sortTable(all: CalledFunctions): CalledFunctions {
  const byKey = <T>(entries: [string, T][]) => entries.sort(([a], [b]) => a < b ? -1 : 1);
  return Object.fromEntries(
    byKey(Object.entries(all)).map(([script, sources]) => [
      script,
      Object.fromEntries(byKey(Object.entries(sources)).map(([source, names]) => [source, names.toSorted()])),
    ]),
  );
}

async function isThere(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

async function makeDirectory(directory: string): Promise<string> {
  await Deno.mkdir(directory, { recursive: true });
  return directory;
}

if (import.meta.main) await main();
