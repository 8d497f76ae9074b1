/**
 * What a run of `salt-ssh` is made of.
 * @module
 */

import type { JobIo } from "#lib/commands/cli/run_command.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { PrintResult } from "#lib/output/printer.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { SshTarget } from "#lib/ssh/rosters.ts";
import type { SaltSshValues } from "./salt_ssh_options.ts";
import type { SshWork } from "./ssh_work.ts";

/** What is run on each host. */
export interface SshCommand {
  readonly target: SshTarget;
  readonly jid: string;
  readonly work: SshWork;
}

/** One run of the command. */
export interface SshRun {
  readonly opts: MasterOpts;
  readonly options: SaltSshValues;
  readonly log: Logger;
  readonly io: JobIo;
  readonly print: PrintResult;
}
