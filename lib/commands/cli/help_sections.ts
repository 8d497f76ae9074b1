/**
 * Sections of help besides the options: exit codes, environment, where the documentation is. Also for manual pages and
 * docs/commands.md.
 * @module
 */

/** Exit codes with their meanings, in ascending order. */
export type ExitCodes = readonly (readonly [code: number, meaning: string])[];

const USAGE = [64, "wrong usage"] as const;
const NO_MASTER = [69, "no master is running"] as const;
const FAULT = [70, "a fault of the program itself"] as const;
const INTERRUPTED = [[130, "Ctrl-C"], [143, "SIGTERM"]] as const;

const SERVICE: ExitCodes = [
  [0, "ended when it was told to"],
  [1, "could not start, or could not continue"],
  USAGE,
  FAULT,
];

/** The exit codes by command; docs/differences.md has the same as a table. */
const EXIT_CODES: Readonly<Record<string, ExitCodes>> = {
  "salt-master": SERVICE,
  "salt-minion": SERVICE,
  "salt-api": SERVICE,
  "salt-syndic": SERVICE,
  "salt": [
    [0, "all minions returned, and nothing failed"],
    [1, "a minion failed, or did not return"],
    [2, "no minion matched, or none returned"],
    [42, "an incomplete command line"],
    USAGE,
    NO_MASTER,
    FAULT,
    [77, "refused, or no permission"],
    ...INTERRUPTED,
  ],
  "salt-key": [
    [0, "done"],
    [1, "a pattern matched no key, or a key could not be handled"],
    USAGE,
    FAULT,
    [77, "no permission"],
  ],
  "salt-run": [
    [0, "done"],
    [1, "the runner failed"],
    [64, "wrong usage, an unknown function, or arguments that do not fit"],
    NO_MASTER,
    FAULT,
    [77, "refused, or no permission"],
    ...INTERRUPTED,
  ],
  "salt-call": [
    [0, "done"],
    [1, "the function failed, or the master did not accept this minion"],
    [2, "the minion's key is not accepted yet"],
    USAGE,
    FAULT,
    [77, "the key was rejected, or no permission"],
    ...INTERRUPTED,
    [255, "there is no such function"],
  ],
  "salt-ssh": [
    [0, "all hosts returned, and nothing failed"],
    [2, "no host matched, or no roster can be read"],
    [20, "a host failed, or gave no result"],
    USAGE,
    FAULT,
    ...INTERRUPTED,
    [255, "there is no ssh program"],
  ],
  "salt-cp": [
    [0, "all minions have the files"],
    [1, "a minion failed, or did not answer"],
    [2, "no minion matched"],
    [42, "an incomplete command line, or a file that does not exist"],
    USAGE,
    NO_MASTER,
    FAULT,
    [77, "refused, or no permission"],
    ...INTERRUPTED,
  ],
};

/** The exit codes of a command. */
export function exitCodesOf(prog: string): ExitCodes {
  return EXIT_CODES[prog] ?? [];
}

/** Environment variables, with what each sets. */
export const ENVIRONMENT: readonly (readonly [name: string, meaning: string])[] = [
  ["SALT_CONFIG_DIR", "the directory of the configuration; --config-dir wins"],
  ["SALT_MASTER_CONFIG, SALT_MINION_CONFIG", "the main configuration file of the master, or of the minion"],
  ["SALT_CLIENT_CONFIG", "the operator's own options, which win over the master's; else ~/.saltrc"],
  ["SALT_SALTFILE", "the Saltfile; --saltfile wins"],
  ["NO_COLOR", "if it is not empty: no colours; --force-color wins. TERM=dumb does the same"],
  ["COLUMNS", "the width of the terminal"],
  ["SALT_UNPACK_DIR", "where a packed executable unpacks itself; an absolute path"],
];

/** Where the documentation is. */
export const DOCUMENTATION =
  "Documentation: the directory docs of the source, as share/doc/salt-deno of an installation; " +
  "of Salt: https://docs.saltproject.io";
