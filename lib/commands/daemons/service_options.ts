/**
 * The command lines of the services, as data.
 * Source: `salt-master --help` and `salt-minion --help` of Salt 3006 and 3008.
 * @module
 */

import { type CliTable, type CommandLine, flag } from "#lib/commands/cli/command_line.ts";
import { CONFIG_CLI_OPTIONS, LOG_CLI_OPTIONS, SERVICE_CLI_OPTIONS } from "#lib/commands/cli/common_options.ts";

const SERVICE_OPTIONS = {
  ...CONFIG_CLI_OPTIONS,
  ...SERVICE_CLI_OPTIONS,
  ...LOG_CLI_OPTIONS,
} as const satisfies CliTable;

/** The type of a service's options. */
export type ServiceTable = typeof SERVICE_OPTIONS;

/** The command `salt-master`. */
export const SALT_MASTER: CommandLine<ServiceTable> = {
  prog: "salt-master",
  usage: "[options]",
  description: "The Salt master, which controls the minions.",
  options: SERVICE_OPTIONS,
};

/** The command `salt-minion`. */
export const SALT_MINION: CommandLine<ServiceTable> = {
  prog: "salt-minion",
  usage: "[options]",
  description: "The Salt minion, which runs the jobs of its master.",
  options: SERVICE_OPTIONS,
};

/** The command `salt-syndic`. */
export const SALT_SYNDIC: CommandLine<ServiceTable> = {
  prog: "salt-syndic",
  usage: "[options]",
  description: "The Salt syndic, which passes the jobs of a higher master to the master on this host.",
  options: SERVICE_OPTIONS,
};

const API_OPTIONS = {
  ...SERVICE_OPTIONS,
  make_certificate: flag(
    ["--make-certificate"],
    "Make a certificate of this host, and an authority for it if there is none, and end. Again: a new certificate of the same authority.",
  ),
} as const satisfies CliTable;

/** The command `salt-api`. */
export const SALT_API: CommandLine<typeof API_OPTIONS> = {
  prog: "salt-api",
  usage: "[options]",
  description: "The REST API of a master on this host.",
  options: API_OPTIONS,
};
