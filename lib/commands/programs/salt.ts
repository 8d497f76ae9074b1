/**
 * `salt`: runs a function on minions and shows their returns. Exit codes: 0 success; 1 a minion failed or did not
 * return; 2 no minion matched, or none returned; 42 incomplete command line; 64 usage; 69 no master; 77 refused; 130
 * Ctrl-C; with `--batch` the highest return code.
 *
 * This file only reads the command line, so that `--version` and `--help` do not load the other hundred modules
 * (salt_publish.ts).
 * @module
 */

import { runCli } from "#lib/commands/cli/run_command.ts";
import type { Parsed } from "#lib/commands/cli/command_line.ts";
import { masterFailure } from "./master_failure.ts";
import { SALT, type SaltTable } from "./salt_options.ts";
import type { SaltIo } from "./salt_session.ts";

/**
 * Runs `salt` with the words of its command line.
 * @returns The exit code.
 */
export function runSalt(argv: readonly string[], io: SaltIo): Promise<number> {
  const run = async (parsed: Parsed<SaltTable>) => {
    const { operateSalt } = await import("./salt_publish.ts");
    return await operateSalt(parsed, io);
  };
  return runCli({ command: SALT, owner: "the master's user", run, failure: masterFailure }, argv, io);
}
