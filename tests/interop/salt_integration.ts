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
import { run } from "#tests/support/processes.ts";
import { PROGRAMS, type Salt } from "./salts.ts";
import { readOutcomes, type Suite, type TestOutcome } from "./salt_suite.ts";

/** Of the source archive; ids of tests are relative to it. */
const FOLDER = "tests/pytests/integration";

/** Time limit of a test without one of its own, in seconds: several times the time of the slowest test on a busy machine. */
const TEST_SECONDS = 180;

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
  { python, source }: Suite,
  { commands, only }: { readonly commands: string; readonly only: readonly string[] },
): Promise<TestOutcome[]> {
  // Not in the directory that TMPDIR names: the names of sockets below it have to fit in 107 bytes.
  const scratch = await Deno.makeTempDir({ dir: "/tmp", prefix: "si" });
  const end = () => void endProcesses(scratch);
  // If the tests are interrupted, pytest is killed: its daemons, in process groups of their own, would stay.
  for (const signal of INTERRUPTS) Deno.addSignalListener(signal, end);
  try {
    const results = `${scratch}/results.jsonl`;
    const plugin = decodeURIComponent(new URL("./salt_suite", import.meta.url).pathname);
    const { code, out, err } = await run([
      "env",
      `PYTHONPATH=${source}:${plugin}`,
      "PYTHONDONTWRITEBYTECODE=1",
      `TMPDIR=${scratch}`,
      `SALT_SUITE_RESULTS=${results}`,
      ...[python, "-m", "pytest", "-v", "-p", "integration_box", "-p", "no:cacheprovider", "-c", "/dev/null"],
      ...["--rootdir", source, "--scripts-dir", commands, "--run-slow", "--core-tests"],
      ...["--timeout", String(TEST_SECONDS), "--tb", "short"],
      ...only.map((id) => `${source}/${FOLDER}/${id}`),
    ], RUN_MS);
    // Exit code 1: some tests failed.
    if (code > 1) throw new Error(`pytest ended with ${code}:\n${out.slice(-4000)}\n${err.slice(-4000)}`);
    return readOutcomes(Deno.readTextFileSync(results), FOLDER);
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
  const found = processesWith(`TMPDIR=${tmp}`);
  for (const pid of found) killProcess(pid);
  return found.length > 0;
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

/** Writes scripts that start the programs of `salt` into the directory `into`, for one whose programs are not single files. */
export function writeCommands(salt: Salt, into: string): void {
  for (const program of PROGRAMS) {
    Deno.writeTextFileSync(`${into}/${program}`, script(salt.command(program)), { mode: 0o755 });
  }
}

function script(words: ReturnType<Salt["command"]>): string {
  return `#!/bin/sh\nexec ${words.map(quoteShellWord).join(" ")} "$@"\n`;
}
