/**
 * The command line of `salt`, as data. Source: `salt --help` of Salt 3006 and 3008.
 * @module
 */

import {
  type CliTable,
  type CliValues,
  type CommandLine,
  flag,
  floatFlag,
  intFlag,
  optionalTextFlag,
  textFlag,
} from "#lib/commands/cli/command_line.ts";
import {
  ARGS_CLI_OPTIONS,
  AUTH_CLI_OPTIONS,
  CONFIG_CLI_OPTIONS,
  CRASH_CLI_OPTIONS,
  DOC_CLI_OPTIONS,
  EXECUTOR_CLI_OPTIONS,
  LOG_CLI_OPTIONS,
  OUTPUT_CLI_OPTIONS,
  STATE_DIFF_CLI_OPTIONS,
  TARGET_CLI_OPTIONS,
  timeoutCliOption,
} from "#lib/commands/cli/common_options.ts";

/** The options that `salt` takes, by name. */
export const SALT_OPTIONS = {
  ...CONFIG_CLI_OPTIONS,
  ...CRASH_CLI_OPTIONS,
  ...timeoutCliOption(5),
  static: flag(
    ["-s", "--static"],
    "Show all returns as one map, when the last has come; minions that did not return are named on standard error.",
  ),
  progress: flag(["-p", "--progress"], "Show how many minions have returned, and a summary, instead of the returns."),
  group: flag(["--group"], "Show identical results once, with all the minions that gave them, when the last has come."),
  failhard: flag(["--failhard"], "End a batch at the first return that failed."),
  async: flag(["--async"], "Publish the job, show its id, and do not wait for returns."),
  subset: intFlag(["--subset"], "Run on this number of minions, chosen at random from those that have the function.", {
    default: 0,
  }),
  live: flag(
    ["--live"],
    "Show what commands write, line by line, while they run; with --async, keep it for salt-run jobs.attach.",
  ),
  no_log: flag(
    ["--no-log"],
    "Keep neither arguments nor results in caches, events and logs: only this command shows them.",
  ),
  sign: optionalTextFlag(
    ["--sign"],
    "Sign the job with the operator's Ed25519 key of ssh-agent, or of ~/.config/salt/operator_key; a fingerprint chooses one.",
    { metavar: "FINGERPRINT", bare: "true" },
  ),
  verbose: flag(["-v", "--verbose"], "Show the job's id, and more in a summary."),
  hide_timeout: flag(
    ["--hide-timeout"],
    "Do not print the minions that do not answer; the exit code still counts them.",
  ),
  show_jid: flag(["--show-jid"], "Show the job's id."),
  batch: textFlag(
    ["-b", "--batch", "--batch-size"],
    "Run on this number of minions at a time, or on a percentage of them: 10%.",
  ),
  batch_wait: floatFlag(
    ["--batch-wait"],
    "Seconds between the return of a minion and the start of the next one in the batch.",
    {
      default: 0,
    },
  ),
  batch_safe_limit: intFlag(
    ["--batch-safe-limit"],
    "Run in a batch if the target matches this number of minions or more.",
    {
      default: 0,
    },
  ),
  batch_safe_size: textFlag(["--batch-safe-size"], "The size of such a batch. Default: %default.", { default: "8" }),
  return: textFlag(["--return"], "Let minions send their results to these returners too, separated by commas.", {
    metavar: "RETURNER",
  }),
  return_config: textFlag(["--return_config"], "Another configuration of those returners.", {
    metavar: "RETURNER_CONF",
  }),
  return_kwargs: textFlag(["--return_kwargs"], "Options of those returners.", { metavar: "RETURNER_KWARGS" }),
  ...EXECUTOR_CLI_OPTIONS,
  metadata: textFlag(["--metadata"], "A value to search jobs by."),
  start_event: flag(["--start-event"], "Have each minion fire salt/job/<jid>/start/<id> when it takes the job."),
  ...ARGS_CLI_OPTIONS,
  args_separator: textFlag(
    ["--args-separator"],
    "The word that separates the arguments of two functions. Default: %default.",
    { default: "," },
  ),
  ...DOC_CLI_OPTIONS,
  cli_summary: flag(
    ["--summary"],
    "Print a summary at the end: how many minions have returned, and with which outcome.",
  ),
  config_dump: flag(["--config-dump"], "Show the master's configuration as YAML."),
  ...STATE_DIFF_CLI_OPTIONS,
  preview_target: flag(["--preview-target"], "Show which minions the target matches, and run nothing."),
  ...TARGET_CLI_OPTIONS,
  ...OUTPUT_CLI_OPTIONS,
  ...LOG_CLI_OPTIONS,
  ...AUTH_CLI_OPTIONS,
} as const satisfies CliTable;

/** The type of {@linkcode SALT_OPTIONS}. */
export type SaltTable = typeof SALT_OPTIONS;

/** The parsed options of `salt`. */
export type SaltValues = CliValues<SaltTable>;

/** The command `salt`. */
export const SALT: CommandLine<SaltTable> = {
  prog: "salt",
  usage: "[options] '<target>' <function> [arguments]",
  description: "Runs a function of an execution module on the minions that a target matches, and shows their returns.",
  examples: [
    ["salt '*' test.ping", "check that every minion answers"],
    ["salt 'web*' cmd.run 'df -h /'", "run a command"],
    ["salt -L web1,db1 grains.item os", "ask two of them"],
    ["salt web1 -d cmd.run", "show how a function is called"],
  ],
  options: SALT_OPTIONS,
};
