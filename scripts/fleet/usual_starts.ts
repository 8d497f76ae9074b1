/**
 * Usual starts of the programs from the scripts of an executable, watched by V8: a fleet starts and answers a few
 * commands, and V8 logs what each process and thread loads.
 * @module
 */

import { V8_FLAGS } from "#lib/runtime/self_command.ts";
import {
  type Command,
  COMMAND_ENTRIES,
  EXECUTABLES,
  packageFiles,
  productionConfig,
} from "#scripts/build/production.ts";
import { scriptOf } from "#scripts/build/bundle.ts";
import { DemoFleet } from "./demo_fleet.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

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

/** Puts the files of packages that an executable has beside its scripts into the directory `stage`. */
export async function addPackages(stage: string): Promise<void> {
  for (const { name, path } of packageFiles(ROOT, Deno.build.target)) {
    await Deno.mkdir(`${stage}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.copyFile(path, `${stage}/${name}`);
  }
  await Deno.writeTextFile(`${stage}/deno.json`, productionConfig(ROOT));
}

/**
 * Runs the usual starts: the services, and {@linkcode COMMANDS}.
 * @param options.directory A directory for the fleet.
 * @param options.stage The directory of the scripts.
 * @param options.logs The directory for V8's logs, one for each thread: the scripts that it loads, and the functions
 * that it compiles.
 * @throws {Error} If a command fails.
 */
export async function runUsualStarts({ directory, stage, logs }: {
  readonly directory: string;
  readonly stage: string;
  readonly logs: string;
}): Promise<void> {
  const dist = `${directory}/dist`;
  await Deno.mkdir(dist);
  for (const { name, links, entry } of EXECUTABLES) {
    for (const called of [name, ...links]) {
      // V8 writes a file for each thread.
      const v8 = [V8_FLAGS, "--log-function-events", `--logfile=${logs}/v8.log`, "--logfile-per-isolate"].join();
      const run = `'${Deno.execPath()}' run --allow-all --no-prompt --quiet --no-lock --v8-flags=${v8}`;
      const source = Object.hasOwn(COMMAND_ENTRIES, called) ? COMMAND_ENTRIES[called as Command] : entry;
      const script = `--config '${stage}/deno.json' '${stage}/${scriptOf(source)}'`;
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

/** The fields of the lines of each log that V8 wrote into the directory `logs`. */
export function v8LogFields(logs: string): string[][][] {
  return [...Deno.readDirSync(logs)].map(({ name }) =>
    Deno.readTextFileSync(`${logs}/${name}`).split("\n").map((line) => line.split(","))
  );
}
