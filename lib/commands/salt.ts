/**
 * `salt`: runs a function on minions and shows what they return.
 *
 * Exit codes: 0 all well; 1 a minion failed or was silent; 2 nobody was meant, or nobody returned; 42 half a command line; 64
 * usage; 69 no master; 77 refused; 130 Ctrl-C; with `--batch` the highest return code. Here only the command line is read, so
 * that `--version` and `--help` need not load the rest, a hundred modules; that is in salt_publish.ts.
 * @module
 */

import { type JobIo, runCli } from "../cli/run_command.ts";
import type { Parsed } from "../cli/command_line.ts";
import { SALT, type SaltTable } from "./salt_options.ts";

/** Runs `salt` with the words of its command line. @returns The exit code. */
export function runSalt(argv: readonly string[], io: JobIo): Promise<number> {
  const run = async (parsed: Parsed<SaltTable>) => {
    const { operateSalt } = await import("./salt_publish.ts");
    return await operateSalt(parsed, io);
  };
  return runCli({ command: SALT, owner: "the master's user", run }, argv, io);
}
