/**
 * Salt's own integration tests, run against executables: a master, minions and the operator's commands, which Salt's
 * fixtures start as processes, with its configuration. integration_box.py replaces what needs a Python Salt.
 *
 * The archive and the environment with pytest are those of salt_suite.ts.
 * @module
 */

import { isGone } from "#lib/os/deno_texts.ts";
import { quoteShellWord } from "#lib/text/shell_words.ts";
import { eventually } from "#tests/support/eventually.ts";
import { PROGRAMS, type Salt } from "./salts.ts";
import { runPytest, type Suite, type TestOutcome } from "./salt_suite.ts";

/** Of the source archive; ids of tests are relative to it. */
const FOLDER = "tests/pytests/integration";

/** Time limit of a run, in milliseconds: ten times its duration on two quiet processors. */
const RUN_MS = 600_000;

/**
 * Runs integration tests, one after the other.
 * @param commands The directory of the commands: `salt`, `salt-master` and all others.
 * @param only The ids of the tests.
 * @returns The outcome of each test, in the order of their ids.
 * @throws {Error} If pytest itself failed, or did not end in time. All processes of the run are ended then, too.
 */
export async function runIntegration(
  suite: Suite,
  { commands, only }: { readonly commands: string; readonly only: readonly string[] },
): Promise<TestOutcome[]> {
  // Not in the directory that TMPDIR names: the names of sockets below it have to fit in 107 bytes.
  const scratch = await Deno.makeTempDir({ dir: "/tmp", prefix: "si" });
  const end = () => void endProcesses(scratch);
  // If the tests are interrupted, pytest is killed: its daemons, in process groups of their own, would stay.
  for (const signal of INTERRUPTS) Deno.addSignalListener(signal, end);
  try {
    return await runPytest(suite, {
      plugin: "integration_box",
      folder: FOLDER,
      scratch,
      environment: [`TMPDIR=${scratch}`],
      options: ["-v", "--scripts-dir", commands, "--run-slow", "--core-tests"],
      tests: only,
      limitMs: RUN_MS,
    });
  } finally {
    await eventually(() => !endProcesses(scratch), {
      withinMs: END_MS,
      what: "the end of the processes of Salt's tests",
    });
    for (const signal of INTERRUPTS) Deno.removeSignalListener(signal, end);
    await Deno.remove(scratch, { recursive: true });
  }
}

/** Maximum time until killed processes have ended, in milliseconds. */
const END_MS = 30_000;

const INTERRUPTS = ["SIGINT", "SIGTERM"] as const;

/**
 * Kills the processes of a run: those whose environment has its TMPDIR.
 * @returns Whether there was one.
 */
function endProcesses(tmp: string): boolean {
  const pids = processesWith(`TMPDIR=${tmp}`);
  for (const pid of pids) killProcess(pid);
  return pids.length > 0;
}

/** The ids of the processes with the variable `NAME=value` in their environment. */
function processesWith(variable: string): number[] {
  return Array.from(Deno.readDirSync("/proc"), ({ name }) => Number(name)).filter((pid) => {
    return Number.isInteger(pid) && environmentOf(pid).includes(variable);
  });
}

/** Empty for a process that has ended, and for one of another user. */
function environmentOf(pid: number): string[] {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/environ`).split("\0");
  } catch (error) {
    if (isGone(error) || error instanceof Deno.errors.PermissionDenied) return [];
    throw error;
  }
}

function killProcess(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

/**
 * Writes scripts that start the programs of `salt` into the directory `into`, for one whose programs are not single
 * files.
 */
export function writeCommands(salt: Salt, into: string): void {
  for (const program of PROGRAMS) {
    Deno.writeTextFileSync(`${into}/${program}`, script(salt.command(program)), { mode: 0o755 });
  }
}

function script(words: ReturnType<Salt["command"]>): string {
  return `#!/bin/sh\nexec ${words.map(quoteShellWord).join(" ")} "$@"\n`;
}
