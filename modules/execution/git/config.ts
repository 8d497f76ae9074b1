/**
 * The functions of the module `git` for git's own configuration, of a repository or of a user.
 * Source: the functions of Salt 3008.3 `salt/modules/git.py`.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import type { ProgramResult } from "#lib/programs/run_program.ts";
import { listedWords, revisionWord } from "#lib/host/git/options.ts";
import { parseConfig } from "#lib/host/git/output.ts";
import { type GitRun, runGit, userPath } from "#lib/host/git/run_git.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { refuseOtherKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";

const RUN = {
  cwd: p.str(null),
  user: p.str(null),
  password: p.str(null),
  ignore_retcode: p.bool(false),
  output_encoding: p.str(null),
};

/** The arguments of all these functions. */
interface ConfigArguments {
  readonly cwd: string | null;
  readonly user: string | null;
  readonly ignore_retcode: boolean;
  readonly output_encoding: string | null;
}

/**
 * How git is run, and the option that selects the configuration.
 * @throws {InvocationError} If none is selected.
 */
function placeOf(bound: ConfigArguments, kwargs: ValueMap): { readonly run: GitRun; readonly place: string } {
  const global = isTrue(kwargs.get("global"));
  if (bound.cwd === null && !global) throw new InvocationError("'cwd' argument required unless global=True");
  const { user, ignore_retcode, output_encoding } = bound;
  const cwd = bound.cwd === null ? {} : { cwd: userPath(bound.cwd, user) };
  return { run: { ...cwd, user, ignore_retcode, output_encoding, soft: true }, place: global ? "--global" : "--local" };
}

function read(
  words: readonly string[],
  { bound, kwargs, context }: {
    readonly bound: ConfigArguments;
    readonly kwargs: ValueMap;
    readonly context: JobContext;
  },
): Promise<ProgramResult> {
  const { run, place } = placeOf(bound, kwargs);
  return runGit(["config", place, ...words], run, context);
}

async function values(
  key: string,
  options: { readonly bound: ConfigArguments; readonly kwargs: ValueMap; readonly context: JobContext },
): Promise<string[] | null> {
  const { retcode, stdout } = await read(["--get-all", revisionWord(key, "key")], options);
  return retcode === 1 ? null : splitLines(stdout);
}

export const config_get: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the value of an option of git; with all=True, a list of all values; None if it is not set. global=True reads the user's\n" +
      "configuration.",
    "git.config_get user.name cwd=/path/to/repo",
    "git.config_get user.email global=True",
    "git.config_get core.gitproxy cwd=/path/to/repo all=True",
  ),
  permissions: "all",
  params: { key: p.str(), ...RUN },
  varKwargs: "kwargs",
  async run({ key, ...bound }, context, { kwargs }) {
    refuseOtherKeywords(kwargs, ["all", "global"]);
    const configured = await values(key, { bound, kwargs, context });
    return configured === null || isTrue(kwargs.get("all")) ? configured : configured.at(-1) ?? "";
  },
});

export const config_get_regexp: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the options of git whose names match an expression, and whose values match value_regex, with lists of values.",
    "git.config_get_regexp user cwd=/path/to/repo",
    "git.config_get_regexp '^foo\\.' baz global=True",
  ),
  permissions: "all",
  params: { key: p.str(), value_regex: p.str(null), ...RUN },
  varKwargs: "kwargs",
  async run({ key, value_regex, ...bound }, context, { kwargs }) {
    refuseOtherKeywords(kwargs, ["global"]);
    const words = ["--get-regexp", revisionWord(key, "key"), ...value_regex === null ? [] : [value_regex]];
    const { retcode, stdout } = await read(words, { bound, kwargs, context });
    return retcode === 1 ? {} : parseConfig(stdout);
  },
});

export const config_get_regex: ModuleFunction<JobContext> = {
  ...config_get_regexp,
  doc: describe("The same as git.config_get_regexp.", "git.config_get_regex user cwd=/path/to/repo"),
};

export const config_set: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set an option of git to one value, or to those of multivar (a list, or a text with commas); add=True adds the value.\n" +
      "Return all its values.",
    "git.config_set user.email me@example.com cwd=/path/to/repo",
    "git.config_set user.email foo@bar.com global=True",
  ),
  permissions: "all",
  params: { key: p.str(), value: p.str(null), multivar: p.any(null), ...RUN },
  varKwargs: "kwargs",
  async run({ key, value, multivar, ...bound }, context, { kwargs }) {
    refuseOtherKeywords(kwargs, ["add", "global"]);
    const { run } = placeOf(bound, kwargs);
    if (value !== null && multivar !== null) {
      throw new InvocationError("Only one of 'value' and 'multivar' is permitted");
    }
    const global = isTrue(kwargs.get("global")) ? ["--global"] : [];
    const wanted = value !== null ? [value] : multivar === null ? [] : listedWords(multivar);
    for (const [i, one] of wanted.entries()) {
      const adds = i > 0 || (value !== null && isTrue(kwargs.get("add")));
      const words = ["config", ...global, adds ? "--add" : "--replace-all", revisionWord(key, "key"), one];
      await runGit(words, { ...run, soft: false }, context);
    }
    const place: ValueMap = new Map<Value, Value>([["global", kwargs.get("global") ?? false]]);
    return await values(key, { bound, kwargs: place, context });
  },
});

/** What the return codes of `git config --unset` mean. */
const UNSET_ERRORS: Readonly<Record<number, string>> = {
  1: "Section or key is invalid",
  6: "The value_regex is invalid",
};

export const config_unset: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Unset an option of git: with value_regex, the value that matches; with all=True, all values. Return True.",
    "git.config_unset /path/to/repo foo.bar",
    "git.config_unset /path/to/repo foo.bar all=True",
  ),
  permissions: "all",
  params: { key: p.str(), value_regex: p.str(null), ...RUN },
  varKwargs: "kwargs",
  async run({ key, value_regex, ...bound }, context, { kwargs }) {
    refuseOtherKeywords(kwargs, ["all", "global"]);
    const { run, place } = placeOf(bound, kwargs);
    const how = isTrue(kwargs.get("all")) ? "--unset-all" : "--unset";
    const words = ["config", how, place, revisionWord(key, "key"), ...value_regex === null ? [] : [value_regex]];
    const { retcode, stderr } = await runGit(words, run, context);
    if (retcode === 0) return true;
    if (retcode !== 5) {
      throw new CommandError(
        UNSET_ERRORS[retcode] ??
          `Failed to unset key '${key}', git config returned exit code ${retcode}${stderr === "" ? "" : `; ${stderr}`}`,
      );
    }
    // Salt looks without `global`, and so asks for a directory.
    const there = await values(key, { bound, kwargs: bound.cwd === null ? kwargs : new Map(), context });
    if (there === null) throw new CommandError(`Key '${str(key)}' does not exist`);
    const also = value_regex === null ? "" : " and value_regex matches multiple values";
    throw new CommandError(`Multiple values exist for key '${key}'${also}`);
  },
});
