/**
 * `salt-ssh`: runs a function on hosts of a roster over ssh, and shows its returns. Exit codes: 0 success; 2 no host
 * matched; 20 a host failed or gave no result; 64 usage; 130 Ctrl-C; 255 there is no ssh.
 * Source: Salt's `salt/cli/ssh.py` and `salt/client/ssh/__init__.py`.
 * @module
 */

import { callingUser } from "#lib/commands/cli/calling_user.ts";
import type { Parsed } from "#lib/commands/cli/command_line.ts";
import { EX_AGGREGATE, EX_NO_MINIONS } from "#lib/commands/cli/exit_codes.ts";
import { functionArguments } from "#lib/commands/cli/function_arguments.ts";
import { helpText } from "#lib/commands/cli/help.ts";
import { type Failure, interruptedRun, type JobIo, runCli } from "#lib/commands/cli/run_command.ts";
import { startUp } from "#lib/commands/cli/start_up.ts";
import { withCommand } from "#lib/commands/cli/with_command.ts";
import { listTarget } from "#lib/commands/programs/salt_job.ts";
import { targetType } from "#lib/commands/programs/target_type.ts";
import { loadClientConfig } from "#lib/config/load.ts";
import { RosterError, SshError, TargetError, UsageError } from "#lib/errors.ts";
import { which } from "#lib/programs/which.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { toWireArgs } from "#lib/yaml/arguments.ts";
import { SALT_SSH, type SaltSshTable } from "./salt_ssh_options.ts";
import type { SshCommand, SshRun } from "./ssh_run.ts";
import type { Value } from "#lib/values/value.ts";

/**
 * Runs `salt-ssh` with the words of its command line.
 * @returns The exit code.
 */
export function runSaltSsh(argv: readonly string[], io: JobIo): Promise<number> {
  const run = (parsed: Parsed<SaltSshTable>) => runParsed(parsed, io);
  return runCli({ command: SALT_SSH, owner: "the master's user", run, failure }, argv, io);
}

/** Salt's exit code without the ssh program. */
const EX_NO_SSH = 255;

function failure(error: Error): Failure | undefined {
  if (error instanceof TargetError || error instanceof RosterError) return { exitCode: EX_NO_MINIONS };
  return error instanceof SshError ? { exitCode: EX_AGGREGATE } : undefined;
}

async function runParsed(parsed: Parsed<SaltSshTable>, io: JobIo): Promise<number> {
  const { options, args } = parsed;
  if (options.list_hosts) {
    return await loaded(parsed, io, [], async (run) => (await import("./host_list.ts")).listHosts(run));
  }
  if (args.length < 2) {
    io.write(helpText(SALT_SSH, io.columns));
    throw new UsageError("Insufficient arguments");
  }
  if (which("ssh") === undefined) {
    io.writeError("No ssh binary found in path -- ssh must be installed for salt-ssh to run. Exiting.\n");
    return EX_NO_SSH;
  }
  const command = commandOf(parsed);
  const arg = "fun" in command.work ? command.work.arg : [];
  return await loaded(parsed, io, arg, async (run) => {
    const { runSshCommand } = await import("./ssh_command.ts");
    const exitCode = await runSshCommand(command, run);
    return io.signal.aborted ? interruptedRun(io) : exitCode;
  });
}

function commandOf({ options, args: [target, ...words] }: Parsed<SaltSshTable>): SshCommand {
  const tgtType = targetType(options);
  const tgt = tgtType === "list" ? listTarget(target) : target;
  const same = { target: { tgt, tgtType, delimiter: options.delimiter }, jid: options.jid ?? makeJid() };
  if (options.raw_shell) return { ...same, work: { raw: words } };
  const [fun, ...rest] = words;
  const { args, kwargs } = functionArguments(rest, options);
  return { ...same, work: { fun, arg: toWireArgs(args, kwargs) } };
}

/** Loads the configuration, and runs `work` with the caller's own rights: keys and rosters are the caller's. */
async function loaded(
  parsed: Parsed<SaltSshTable>,
  io: JobIo,
  arg: readonly Value[],
  work: (run: SshRun) => Promise<number>,
): Promise<number> {
  const config = startUp(SALT_SSH, parsed, { role: "master", load: loadClientConfig });
  const { options, given } = parsed;
  if (!given.has("log_file")) config.opts.log_file = config.opts.ssh_log_file;
  if (options.disable_keepalive) config.opts.ssh_keepalive = false;
  if (options.askpass) {
    const password = await io.ask?.("Password: ", { hidden: true });
    if (password === undefined) throw new UsageError("--askpass: there is no terminal to ask on");
    config.opts.ssh_passwd = password;
  }
  const takeRights = () => callingUser();
  return await withCommand({ io, options, arg, loaded: config, takeRights }, async ({ opts, log, print }) => {
    return await work({ opts, options, log, io, print });
  });
}
