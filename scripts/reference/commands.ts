/**
 * The commands of the three executables, for what is made of their option tables: manual pages, shell completion, reference.
 * @module
 */

import type { CliTable, CommandLine } from "../../lib/cli/command_line.ts";
import { SALT } from "../../lib/commands/salt_options.ts";
import { SALT_CALL } from "../../lib/commands/salt_call_options.ts";
import { SALT_CP } from "../../lib/commands/salt_cp_options.ts";
import { SALT_KEY } from "../../lib/commands/salt_key_options.ts";
import { SALT_MASTER, SALT_MINION } from "../../lib/daemons/service_options.ts";
import { SALT_RUN } from "../../lib/commands/salt_run_options.ts";

/** A command whatever its options. */
export type AnyCommand = CommandLine<CliTable>;

/** Those that run until they are told to end; their manual pages are of section 8. */
export const SERVICES: readonly AnyCommand[] = [SALT_MASTER, SALT_MINION];

/** Every command, the operator's first. */
export const COMMANDS: readonly AnyCommand[] = [SALT, SALT_KEY, SALT_RUN, SALT_CALL, SALT_CP, ...SERVICES];
