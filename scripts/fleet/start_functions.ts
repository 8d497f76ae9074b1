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

import { bundle, type CalledFunctions, isOf, scriptOf } from "#scripts/build/bundle.ts";
import { DemoFleet } from "./demo_fleet.ts";
import { type FunctionNames, sourceAt, topFunctions } from "#scripts/build/eager_functions.ts";
import {
  type Command,
  COMMAND_ENTRIES,
  EXECUTABLES,
  LIBRARIES,
  packageFiles,
  productionConfig,
  SCRIPT_SOURCES,
  STARTS,
} from "#scripts/build/production.ts";
import { placesIn } from "#scripts/build/source_map.ts";
import { V8_FLAGS } from "#lib/runtime/self_command.ts";
import { writeOut } from "#lib/commands/cli/process_io.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

/** The path of the list. */
const LIST = `${ROOT}/scripts/build/start_functions.json`;

/**
 * The usual starts, besides those of the services. `salt-call` with a master is left out: the functions that only it
 * calls would add 2 ms to each start without a master, and its sign-in takes much longer than compiling them.
 */
const COMMANDS = [
  ["salt-key", "-L"],
  ["salt-key", "-y", "-A"],
  ["salt", "*", "test.ping"],
  ["salt-call", "--local", "test.ping"],
  ["salt-run", "manage.up"],
];

/** Time limit of the whole run, in milliseconds. */
const LIMIT_MS = 120_000;

/** Runs the programs of the directory `stage`; V8 writes its logs to the directory `logs`. */
async function runFleet(directory: string, stage: string, logs: string): Promise<void> {
  const dist = `${directory}/dist`;
  await Deno.mkdir(dist);
  for (const { name, links, entry } of EXECUTABLES) {
    for (const called of [name, ...links]) {
      // V8 writes a file for each thread.
      const flags = `${V8_FLAGS},--log-function-events,--logfile=${logs}/v8.log,--logfile-per-isolate`;
      const run = `'${Deno.execPath()}' run --allow-all --no-prompt --quiet --no-lock --v8-flags=${flags}`;
      const source = Object.hasOwn(COMMAND_ENTRIES, called) ? COMMAND_ENTRIES[called as Command] : entry;
      const script = `--config '${stage}/deno.json' '${stage}/${scriptOf(source)}' --as ${called}`;
      const text = `#!/bin/sh\nexport SALT_EXECUTABLE="$0"\nexec ${run} ${script} "$@"\n`;
      await Deno.writeTextFile(`${dist}/${called}`, text, { mode: 0o755 });
    }
  }
  const signal = AbortSignal.timeout(LIMIT_MS);
  const fleet = await DemoFleet.make({ root: `${directory}/f`, dist, project: ROOT });
  try {
    await fleet.start(signal);
    await fleet.keysPending(signal);
    for (const command of COMMANDS) {
      const { code, output } = await fleet.run(command, signal);
      if (code !== 0) throw new Error(`${command.join(" ")}: ${output}`);
      if (command.includes("-A")) await fleet.signedIn(signal);
    }
  } finally {
    await fleet.stop();
  }
}

/**
 * The end offsets of the compiled functions, by file. A function is identified by its end and by the start of its
 * parameters.
 */
function compiledIn(logs: string): Map<string, Set<string>> {
  const compiled = new Map<string, Set<string>>();
  for (const { name } of Deno.readDirSync(logs)) {
    const lines = Deno.readTextFileSync(`${logs}/${name}`).split("\n").map((line) => line.split(","));
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
    for (const { name, path } of packageFiles(ROOT, Deno.build.target)) {
      await makeDirectory(`${stage}/${name}`.replace(/\/[^/]*$/, ""));
      await Deno.copyFile(path, `${stage}/${name}`);
    }
    await Deno.writeTextFile(`${stage}/deno.json`, productionConfig(ROOT));
    await runFleet(directory, stage, logs);
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
