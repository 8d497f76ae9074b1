/**
 * The options that several commands have: each command spreads the sets that it needs into its table.
 * Source: `--help` of Salt's commands.
 * @module
 */

import { choiceFlag, type CliOption, type CliTable, flag, floatFlag, intFlag, textFlag } from "./command_line.ts";
import { STATE_OUTPUT_MODES } from "#lib/output/state_output_modes.ts";
import { OUTPUTTER_NAMES } from "#lib/output/outputter_names.ts";
import { LOG_LEVELS, type LogLevel } from "#lib/runtime/log_levels.ts";

/** Where configuration is. */
export const CONFIG_CLI_OPTIONS = {
  saltfile: textFlag(
    ["--saltfile"],
    "The Saltfile with defaults for this command. Default: ./Saltfile, then ~/.salt/Saltfile.",
  ),
  config_dir: textFlag(["-c", "--config-dir"], "The directory of the configuration. Default: /etc/salt."),
} as const satisfies CliTable;

/** The options of `salt-master` and `salt-minion`. */
export const SERVICE_CLI_OPTIONS = {
  user: textFlag(["-u", "--user"], "The user to run as."),
  daemon: flag(["-d", "--daemon"], "Run in the background."),
  pidfile: textFlag(["--pid-file"], "The file that holds the process id. Default: as configured."),
  disable_keepalive: flag(
    ["--disable-keepalive"],
    "Accepted for compatibility with Salt: the service manager restarts a service.",
  ),
} as const satisfies CliTable;

const LOGGING = { group: "Logging Options" } as const;
const LEVEL_LIST = LOG_LEVELS.join(", ");

/** Levels and file of the log. */
export const LOG_CLI_OPTIONS = {
  log_level: choiceFlag(
    ["-l", "--log-level"],
    `What is logged to the terminal, one of ${LEVEL_LIST}. From profile on, secrets may be among it. Default: warning.`,
    { ...LOGGING, choices: LOG_LEVELS },
  ),
  log_file: textFlag(["--log-file"], "The log file. Default: as configured.", LOGGING),
  log_level_logfile: choiceFlag(
    ["--log-file-level"],
    `What is logged to the file, one of the same. Default: as --log-level.`,
    { ...LOGGING, choices: LOG_LEVELS },
  ),
} as const satisfies CliTable;

/** The same without `-l`, which is `--list` in `salt-key`. */
export const LOG_CLI_OPTIONS_WITHOUT_L: typeof LOG_CLI_OPTIONS & { log_level: CliOption<LogLevel | null> } = {
  ...LOG_CLI_OPTIONS,
  log_level: { ...LOG_CLI_OPTIONS.log_level, flags: ["--log-level"] },
};

const OUTPUT = { group: "Output Options" } as const;

/** How results are shown. */
export const OUTPUT_CLI_OPTIONS = {
  output: textFlag(
    ["--out", "--output"],
    `The outputter, one of ${OUTPUTTER_NAMES.join(", ")}. Default: nested.`,
    OUTPUT,
  ),
  output_indent: intFlag(
    ["--out-indent", "--output-indent"],
    "Blanks that each level is indented by, where the outputter indents; negative: one line.",
    OUTPUT,
  ),
  query: textFlag(
    ["--query"],
    "A JMESPath expression (jmespath.org) that picks parts of the result: '*.os'. With it salt shows all returns as one map.",
    OUTPUT,
  ),
  output_file: textFlag(["--out-file", "--output-file"], "Write results to this file.", OUTPUT),
  output_file_append: flag(["--out-file-append", "--output-file-append"], "Add to that file.", OUTPUT),
  no_color: flag(["--no-color", "--no-colour"], "No colours.", OUTPUT),
  force_color: flag(["--force-color", "--force-colour"], "Use colours also without a terminal.", OUTPUT),
  state_output: choiceFlag(
    ["--state-output", "--state_output"],
    "How much of each state is shown: full, terse, mixed, changes or filter; with the suffix _id, IDs are shown instead of names.",
    { ...OUTPUT, choices: STATE_OUTPUT_MODES },
  ),
  state_verbose: textFlag(["--state-verbose", "--state_verbose"], "Whether states that did nothing are shown.", OUTPUT),
} as const satisfies CliTable;

const EAUTH = { group: "External Authentication" } as const;

/** The user who gives the command. */
export const AUTH_CLI_OPTIONS = {
  eauth: textFlag(
    ["-a", "--auth", "--eauth", "--external-auth"],
    "The system that knows the user: pam, ldap, …",
    EAUTH,
  ),
  mktoken: flag(["-T", "--make-token"], "Get a token from the master, and use it for the next commands.", EAUTH),
  username: textFlag(["--username"], "The user there.", EAUTH),
  password: textFlag(["--password"], "The user's password.", EAUTH),
} as const satisfies CliTable;

/** The same without `-a`, which is `--accept` in `salt-key`. */
export const AUTH_CLI_OPTIONS_WITHOUT_A: typeof AUTH_CLI_OPTIONS & { eauth: CliOption<string | null> } = {
  ...AUTH_CLI_OPTIONS,
  eauth: { ...AUTH_CLI_OPTIONS.eauth, flags: ["--auth", "--eauth", "--external-auth"] },
};

const TARGET = { group: "Target Options" } as const;

/** How targets are chosen, as `salt-cp` knows it; without one, by glob. */
export const PLAIN_TARGET_CLI_OPTIONS = {
  list_hosts: flag(
    ["-H", "--hosts"],
    "List the hosts of the rosters of salt-ssh, which alone has it.",
    TARGET,
  ),
  pcre: flag(["-E", "--pcre"], "A regular expression that the id matches from its start.", TARGET),
  list: flag(["-L", "--list"], "Ids, separated by commas or blanks.", TARGET),
  grain: flag(["-G", "--grain"], 'A grain and a glob: "os:Arch*".', TARGET),
  grain_pcre: flag(["-P", "--grain-pcre"], 'A grain and a regular expression: "os:Arch.*".', TARGET),
  nodegroup: flag(["-N", "--nodegroup"], "The name of a group in the master's configuration.", TARGET),
  range: flag(["-R", "--range"], "An expression for a range server. Not built yet.", TARGET),
  delimiter: textFlag(["--delimiter"], "What separates the levels of a grain or pillar key. Default: %default.", {
    group: "Additional Target Options",
    default: ":",
  }),
} as const satisfies CliTable;

/** How targets are chosen, as `salt` knows it. */
export const TARGET_CLI_OPTIONS = {
  ...PLAIN_TARGET_CLI_OPTIONS,
  compound: flag(["-C", "--compound"], 'Several of these: "G@os:Debian and web* or E@db.*".', TARGET),
  pillar_target: flag(["-I", "--pillar"], 'A pillar key and a glob: "role:web*".', TARGET),
  pillar_pcre: flag(
    ["-J", "--pillar-pcre"],
    'A pillar key and a regular expression: "role:web.*".',
    TARGET,
  ),
  ipcidr: flag(["-S", "--ipcidr"], "An address or a network.", TARGET),
} as const satisfies CliTable;

/** Of states, only those that changed something. */
export const STATE_DIFF_CLI_OPTIONS = {
  state_output_diff: flag(
    ["--output-diff", "--state-output-diff"],
    "Of states, show only those that changed something.",
  ),
} as const satisfies CliTable;

/** How arguments are read. */
export const ARGS_CLI_OPTIONS = {
  args_stdin: flag(["--args-stdin"], "Read more options and arguments from standard input, one per line."),
  no_parse: textFlag(
    ["--no-parse"],
    "Names of arguments (name=value), separated by commas, whose values are text and not YAML.",
    { metavar: "argname1,argname2,..." },
  ),
} as const satisfies CliTable;

/** Salt's options for developers. */
export const CRASH_CLI_OPTIONS = {
  hard_crash: flag(["--hard-crash"], "On an unexpected error, show where it happened."),
} as const satisfies CliTable;

const PROFILING = { group: "Profiling support" } as const;

/** Options for profiling. */
export const PROFILING_CLI_OPTIONS = {
  profiling_path: textFlag(
    ["--profiling-path"],
    "The directory for profiles. Default: the cache directory.",
    PROFILING,
  ),
  profiling_enabled: flag(["--enable-profiling"], "Write a CPU profile for browsers and editors.", PROFILING),
} as const satisfies CliTable;

/** How a minion's functions are run. */
export const EXECUTOR_CLI_OPTIONS = {
  module_executors: textFlag(
    ["--module-executors"],
    "Executors to use instead of those of the minion's configuration.",
    {
      metavar: "EXECUTOR_LIST",
    },
  ),
  executor_opts: textFlag(["--executor-opts"], "Options of those executors."),
} as const satisfies CliTable;

/** `-d`: documentation instead of a run. */
export const DOC_CLI_OPTIONS = {
  doc: flag(["-d", "--doc", "--documentation"], "Show the documentation of a function, a module, or all of them."),
} as const satisfies CliTable;

/** `-t`, with the default that the command has, in seconds. */
export function timeoutCliOption(seconds: number): { timeout: CliOption<number | null> } {
  return { timeout: floatFlag(["-t", "--timeout"], `Seconds to wait. Default: ${seconds}.`) };
}
