/**
 * The command line of `salt-cp`, as data. Source: `salt-cp --help` of Salt 3006 and 3008.
 * @module
 */

import { type CliTable, type CliValues, type CommandLine, flag } from "#lib/commands/cli/command_line.ts";
import {
  CONFIG_CLI_OPTIONS,
  CRASH_CLI_OPTIONS,
  LOG_CLI_OPTIONS,
  OUTPUT_CLI_OPTIONS,
  PLAIN_TARGET_CLI_OPTIONS,
  timeoutCliOption,
} from "#lib/commands/cli/common_options.ts";

const FILES = { group: "File Options" } as const;

/** The options that `salt-cp` takes, by name. */
export const SALT_CP_OPTIONS = {
  ...CONFIG_CLI_OPTIONS,
  ...CRASH_CLI_OPTIONS,
  ...timeoutCliOption(5),
  chunked: flag(["-C", "--chunked"], "Send files in pieces: large ones, binary ones, and directories.", FILES),
  no_compression: flag(["-n", "--no-compression"], "Do not compress the pieces.", FILES),
  no_log: flag(["--no-log"], "Keep the files' contents out of caches, events and logs.", FILES),
  ...PLAIN_TARGET_CLI_OPTIONS,
  ...OUTPUT_CLI_OPTIONS,
  ...LOG_CLI_OPTIONS,
} as const satisfies CliTable;

/** The type of {@linkcode SALT_CP_OPTIONS}. */
export type SaltCpTable = typeof SALT_CP_OPTIONS;

/** The parsed options of `salt-cp`. */
export type SaltCpValues = CliValues<SaltCpTable>;

/** The command `salt-cp`. */
export const SALT_CP: CommandLine<SaltCpTable> = {
  prog: "salt-cp",
  usage: "[options] '<target>' SOURCE [SOURCE2 SOURCE3 ...] DEST",
  description:
    "Copies files of this host to the minions that a target matches. Without --chunked, text files that fit in a message.",
  examples: [
    ["salt-cp 'web*' motd /etc/motd", "copy a text file"],
    ["salt-cp -C 'web*' image.tar.gz /srv/", "copy a large or binary one"],
  ],
  options: SALT_CP_OPTIONS,
};
