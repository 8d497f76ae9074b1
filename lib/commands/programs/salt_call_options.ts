/**
 * The command line of `salt-call`, as data. Source: `salt-call --help` of Salt 3006 and 3008.
 * @module
 */

import {
  appendFlag,
  type CliTable,
  type CliValues,
  type CommandLine,
  flag,
  floatFlag,
  textFlag,
} from "#lib/commands/cli/command_line.ts";
import {
  ARGS_CLI_OPTIONS,
  CONFIG_CLI_OPTIONS,
  CRASH_CLI_OPTIONS,
  DOC_CLI_OPTIONS,
  EXECUTOR_CLI_OPTIONS,
  LOG_CLI_OPTIONS,
  OUTPUT_CLI_OPTIONS,
  PROFILING_CLI_OPTIONS,
  STATE_DIFF_CLI_OPTIONS,
} from "#lib/commands/cli/common_options.ts";

/** The options that `salt-call` takes, by name. */
export const SALT_CALL_OPTIONS = {
  ...CONFIG_CLI_OPTIONS,
  ...CRASH_CLI_OPTIONS,
  ...ARGS_CLI_OPTIONS,
  grains_run: flag(["-g", "--grains"], "Show the grains of this minion."),
  module_dirs: appendFlag(
    ["-m", "--module-dirs"],
    "Another directory of execution modules; may be given more than once.",
  ),
  ...DOC_CLI_OPTIONS,
  local: flag(["--local"], "Run without a master."),
  master: textFlag(["--master"], "The master to use. Default: as configured."),
  id: textFlag(["--id"], "The minion id to use. Default: as configured."),
  return: textFlag(["--return"], "Send the result to these returners too, separated by commas.", {
    metavar: "RETURNER",
  }),
  live: flag(["--live"], "Show what commands write, line by line, while they run."),
  no_return_event: flag(["--no-return-event"], "Do not return the result to the master."),
  no_log: flag(
    ["--no-log"],
    "Send the master the outcome, without arguments and result; log nothing of the function.",
  ),
  cachedir: textFlag(["--cachedir"], "The cache directory. Default: as configured."),
  file_root: appendFlag(["--file-root"], "With --local: a directory of the base environment's files."),
  pillar_root: appendFlag(["--pillar-root"], "With --local: a directory of the base environment's pillar."),
  states_dir: appendFlag(["--states-dir"], "With --local: another directory of state modules."),
  ...EXECUTOR_CLI_OPTIONS,
  retcode_passthrough: flag(["--retcode-passthrough"], "Exit with the function's return code."),
  print_metadata: flag(["--metadata"], "Show the job's id, function and return code too."),
  metadata: textFlag(["--set-metadata"], "A value to search jobs by.", { metavar: "METADATA" }),
  skip_grains: flag(["--skip-grains"], "Run without grains."),
  refresh_grains_cache: flag(
    ["--refresh-grains-cache"],
    "Accepted for compatibility with Salt: grains are always computed again.",
  ),
  ...STATE_DIFF_CLI_OPTIONS,
  user: textFlag(["--priv"], "The user to run as."),
  proxyid: textFlag(["--proxyid"], "The id of a proxy minion. There are none yet."),
  resources: flag(["-r", "--resources"], "Run on this minion's resources. There are none yet."),
  tgt: textFlag(["--tgt"], "The resources to run on. There are none yet."),
  tgt_type: textFlag(["--tgt-type"], "The target type of --tgt. There are no resources yet."),
  auth_timeout: floatFlag(["-t", "--timeout"], "Seconds to wait for each answer of the master to a sign-in."),
  ...PROFILING_CLI_OPTIONS,
  ...OUTPUT_CLI_OPTIONS,
  ...LOG_CLI_OPTIONS,
} as const satisfies CliTable;

/** The type of {@linkcode SALT_CALL_OPTIONS}. */
export type SaltCallTable = typeof SALT_CALL_OPTIONS;

/** The parsed options of `salt-call`. */
export type SaltCallValues = CliValues<SaltCallTable>;

/** The command `salt-call`. */
export const SALT_CALL: CommandLine<SaltCallTable> = {
  prog: "salt-call",
  usage: "[options] <function> [arguments]",
  description: "Runs a function of an execution module on this host, and returns the result to the master as well.",
  examples: [
    ["salt-call --local test.ping", "run a function without a master"],
    ["salt-call grains.items", "show the grains of this host"],
    ["salt-call --local -d cmd.run", "show how a function is called"],
  ],
  options: SALT_CALL_OPTIONS,
};
