/**
 * The returns of jobs whose minion ended.
 * @module
 */

import type { ChildCare, ChildRunner } from "#lib/programs/child_process.ts";
import { CommandLostError, JobEndedError } from "#lib/errors.ts";
import type { DetachedCommand } from "#lib/programs/detached_commands.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import type { ProcState } from "./proc_files.ts";

/** The text by the state of the job. */
const INTERRUPTED: Readonly<Record<ProcState, string>> = {
  running: "The minion ended while it ran this job",
  queued: "The minion ended before it began this job",
};

/** Maximum output of a command in such a text, in UTF-16 units. */
const SHOWN_OUTPUT = 4096;

/**
 * The outcome of a job whose minion ended.
 * @param more Lines after the text.
 */
export function interruptedReturn(state: ProcState, more: readonly string[] = []): ValueMap {
  const text = [INTERRUPTED[state], ...more].join("\n");
  return map({ return: text, retcode: 1, success: false, out: "nested", interrupted: true });
}

/**
 * The same for a job whose commands continued without the minion: waits until they end, and reports how each ended.
 * @param run Gives the outcome of the next of these commands (keeper_runner.ts).
 */
export async function interruptedWithCommands(
  detached: readonly DetachedCommand[],
  run: ChildRunner,
  care: ChildCare,
): Promise<ValueMap> {
  const lines: string[] = [];
  for (const { words } of detached) {
    const name = `Its command '${shownCommand(words)}'`;
    try {
      const { retcode, stdout, stderr } = await run({ argv: words, cwd: "/", env: {} }, care);
      const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
      lines.push(`${name} ended with return code ${retcode}`, output.trimEnd().slice(-SHOWN_OUTPUT));
    } catch (error) {
      if (!(error instanceof CommandLostError || error instanceof JobEndedError)) throw error;
      lines.push(`${name}: ${error.message}`);
    }
  }
  return interruptedReturn("running", lines);
}

/** The words of a command without the shell that only prepared it (command_wrapper.ts). */
function shownCommand(words: readonly string[]): string {
  const prepared = words[0] === "/bin/sh" && words[1] === "-c" && words[3] === "sh";
  return words.slice(prepared ? 4 : 0).join(" ");
}
