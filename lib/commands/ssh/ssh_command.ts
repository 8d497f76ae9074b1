/**
 * Runs a command of `salt-ssh` on all hosts of its target, some at a time, and shows each return as it comes.
 * @module
 */

import { callingUser } from "#lib/commands/cli/calling_user.ts";
import { EX_AGGREGATE, EX_NO_MINIONS } from "#lib/commands/cli/exit_codes.ts";
import { SshFleet } from "./ssh_fleet.ts";
import type { SshCommand, SshRun } from "./ssh_run.ts";
import type { HostEnd } from "./ssh_work.ts";
import type { Value } from "#lib/values/value.ts";

/**
 * Runs it.
 * @returns The exit code.
 */
export async function runSshCommand(command: SshCommand, run: SshRun): Promise<number> {
  const { opts, options, log, io, print } = run;
  const flags = {
    copiesAnew: options.regen_thin,
    randomDirectory: options.rand_thin_dir,
    deploysKey: options.ssh_key_deploy,
    forcesTty: options.tty,
  };
  using fleet = new SshFleet({ opts, log, signal: io.signal, user: callingUser(), isOperator: true, flags });
  const hosts = await fleet.find(command.target);
  if (hosts.size === 0) {
    log.error("No matching targets found in roster.");
    return EX_NO_MINIONS;
  }
  if (options.verbose) {
    const text = `Executing job with jid ${command.jid}`;
    io.write(`${text}\n${"-".repeat(text.length)}\n\n\n`);
  }
  const ends: HostEnd[] = [];
  await fleet.run(hosts, command, (end) => {
    ends.push(end);
    if (!options.static) show(end, print);
  });
  if (options.static && !io.signal.aborted) {
    const out = ends.find((end) => end.out !== undefined)?.out;
    print(new Map(ends.map((end): [Value, Value] => [end.id, end.return])), { out });
  }
  return ends.every(({ retcode }) => retcode === 0) ? 0 : EX_AGGREGATE;
}

function show({ id, return: value, out, retcode, errorDetails }: HostEnd, print: SshRun["print"]): void {
  print(new Map([[id, value]]), {
    out,
    retcode,
    ...errorDetails !== undefined && { errorDetails: new Map([[id, errorDetails]]) },
  });
}
