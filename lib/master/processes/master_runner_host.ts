/**
 * The context of runners and wheel functions in a process of the master, with the master's own rights and no terminal.
 * @module
 */

import { fireEvent } from "#lib/bus/fire.ts";
import { masterBus } from "#lib/bus/paths.ts";
import type { RunnerHost } from "#lib/client/runner.ts";
import { localCommands } from "#lib/client/runner_local.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { loadRunners } from "#lib/master/functions/catalogues.ts";
import { runnerHost, type RunnerHostParts } from "./runner_host.ts";

/** The context for a job of a user whose rights have been checked. */
export function masterRunnerHost(
  opts: MasterOpts,
  parts: Pick<RunnerHostParts, "python" | "jid" | "user" | "log" | "signal">,
): RunnerHost {
  const { python, log, signal } = parts;
  return runnerHost(opts, {
    ...parts,
    catalogue: loadRunners(opts, log, python),
    fire: (tag, event) => fireEvent(masterBus(opts.sock_dir), tag, event),
    local: localCommands(opts, { user: opts.user, log, signal }),
    // Prints are only logged: standard output is for the process's own messages.
    print: (line) => (log.info(line), true),
    showProgress: () => {},
  });
}
