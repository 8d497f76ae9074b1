/**
 * The commands of the three executables, from whose option tables the manual pages, the shell completion and the
 * reference are made.
 * @module
 */

import type { CliOption, CliTable, CommandLine } from "#lib/commands/cli/command_line.ts";
import { SALT } from "#lib/commands/programs/salt_options.ts";
import { SALT_CALL } from "#lib/commands/programs/salt_call_options.ts";
import { SALT_CP } from "#lib/commands/programs/salt_cp_options.ts";
import { SALT_KEY } from "#lib/commands/programs/salt_key_options.ts";
import { SALT_API, SALT_MASTER, SALT_MINION, SALT_SYNDIC } from "#lib/commands/daemons/service_options.ts";
import { SALT_SSH } from "#lib/commands/ssh/salt_ssh_options.ts";
import { SALT_RUN } from "#lib/commands/programs/salt_run_options.ts";

/** A command with options of any type. */
export type AnyCommand = CommandLine<CliTable>;

/** The services; their manual pages are in section 8. */
export const SERVICES: readonly AnyCommand[] = [SALT_MASTER, SALT_MINION, SALT_API, SALT_SYNDIC];

/** Every command; those for operators come first. */
export const COMMANDS: readonly AnyCommand[] = [SALT, SALT_KEY, SALT_RUN, SALT_CALL, SALT_CP, SALT_SSH, ...SERVICES];

/** The help of an option, with its default in the place of `%default`. */
export function helpOf(option: CliOption): string {
  return option.help.replaceAll("%default", String(option.default ?? "none"));
}
