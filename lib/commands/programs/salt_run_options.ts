/**
 * The command line of `salt-run`, as data. Source: `salt-run --help` of Salt 3006 and 3008.
 * @module
 */

import {
  type CliTable,
  type CliValues,
  type CommandLine,
  flag,
  type Parsed,
  textFlag,
} from "#lib/commands/cli/command_line.ts";
import {
  ARGS_CLI_OPTIONS,
  AUTH_CLI_OPTIONS,
  CONFIG_CLI_OPTIONS,
  CRASH_CLI_OPTIONS,
  DOC_CLI_OPTIONS,
  LOG_CLI_OPTIONS,
  OUTPUT_CLI_OPTIONS,
  PROFILING_CLI_OPTIONS,
  STATE_DIFF_CLI_OPTIONS,
  timeoutCliOption,
} from "#lib/commands/cli/common_options.ts";

/** The options that `salt-run` takes, by name. */
export const SALT_RUN_OPTIONS = {
  ...CONFIG_CLI_OPTIONS,
  ...CRASH_CLI_OPTIONS,
  ...timeoutCliOption(5),
  ...ARGS_CLI_OPTIONS,
  ...DOC_CLI_OPTIONS,
  async: flag(["--async"], "Run it in the background, and return at once. Its result goes to the job cache."),
  jid: textFlag(["--jid"], "Run it under this job id instead of a new one."),
  skip_grains: flag(["--skip-grains"], "Accepted for compatibility with Salt: runners have no grains here."),
  ...PROFILING_CLI_OPTIONS,
  ...OUTPUT_CLI_OPTIONS,
  ...STATE_DIFF_CLI_OPTIONS,
  quiet: flag(["--quiet"], "Do not show the result.", { group: "Output Options" }),
  ...LOG_CLI_OPTIONS,
  ...AUTH_CLI_OPTIONS,
} as const satisfies CliTable;

/** The type of {@linkcode SALT_RUN_OPTIONS}. */
export type SaltRunTable = typeof SALT_RUN_OPTIONS;

/** The parsed options of `salt-run`. */
export type SaltRunValues = CliValues<SaltRunTable>;

/** The command `salt-run`. */
export const SALT_RUN: CommandLine<SaltRunTable> = {
  prog: "salt-run",
  usage: "[options] <function> [arguments]",
  description:
    "Runs a function of a runner, on the master and not on its minions. Without a function it lists the functions.",
  examples: [
    ["salt-run manage.status", "show which minions answer"],
    ["salt-run jobs.list_jobs", "show the stored jobs"],
    ["salt-run jobs.lookup_jid 20261121160104441974", "show the returns of a job"],
    ["salt-run state.event pretty=True", "watch the events of the master"],
    ["salt-run salt.wheel key.list_all", "run a wheel function"],
    ["salt-run -d", "show every runner"],
  ],
  options: SALT_RUN_OPTIONS,
};

/** Options without effect for the process in the background: it has no input and no terminal. */
const FOREGROUND_ONLY: ReadonlySet<string> = new Set(["async", "args_stdin", "jid", "quiet", "doc"]);

/** The words of the background process for `parsed`: it runs quietly in its own foreground, with `jid`. */
export function detachedWords(parsed: Parsed<SaltRunTable>, jid: string): string[] {
  const words: string[] = [];
  const typed: Readonly<Record<string, unknown>> = parsed.options;
  for (const [name, option] of Object.entries<CliTable[string]>(SALT_RUN_OPTIONS)) {
    if (!parsed.given.has(name) || FOREGROUND_ONLY.has(name)) continue;
    const value = typed[name];
    if (option.kind === "flag") words.push(...value === true ? [option.flags.at(-1) ?? ""] : []);
    else words.push(`${option.flags.at(-1)}=${value}`);
  }
  return [...words, "--quiet", `--jid=${jid}`, "--", ...parsed.args];
}
