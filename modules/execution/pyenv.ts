/**
 * Execution module `pyenv`: Pythons of their own, which pyenv builds and chooses.
 * Source: the functions of Salt 3008.3 `salt/modules/pyenv.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { expandUser } from "#lib/os/disk_paths.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { checkedWord, type ProgramResult, runProgram } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { quoteShellWord } from "#lib/text/shell_words.ts";
import { splitLines, splitWhitespace } from "#lib/text/split_lines.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, truthy } from "#lib/values/value.ts";

const RUNAS = { runas: p.str(null) };

/** Where pyenv is, for all users or for one. */
async function pyenvPath(runas: string | null, context: JobContext): Promise<string> {
  const set = await context.call("config.option", ["pyenv.root"]);
  const usual = runas === null || runas === "root" ? "/usr/local/pyenv" : `~${runas}/.pyenv`;
  return expandUser(truthy(set) ? str(set) : usual);
}

/** Runs pyenv; `undefined`: it is not there. */
async function pyenv(
  words: readonly string[],
  runas: string | null,
  context: JobContext,
  env: readonly string[] = [],
): Promise<ProgramResult | undefined> {
  const path = await pyenvPath(runas, context);
  const program = which(`${path}/bin/pyenv`);
  if (program === undefined) return undefined;
  return await runProgram(["env", `PYENV_ROOT=${path}`, ...env, program, ...words], context, {
    runas,
    setsRetcode: true,
  });
}

/** What pyenv prints; `undefined` if it failed or is not there. */
async function outputOf(
  words: readonly string[],
  runas: string | null,
  context: JobContext,
): Promise<string | undefined> {
  const result = await pyenv(words, runas, context);
  return result?.retcode === 0 ? result.stdout : undefined;
}

async function git(words: readonly string[], runas: string | null, context: JobContext, cwd?: string) {
  const { retcode } = await runProgram(["git", ...words], context, {
    runas,
    setsRetcode: true,
    ...cwd !== undefined && { cwd },
  });
  return retcode === 0;
}

const PLACE = { ...RUNAS, path: p.str(null) };

export const install: ModuleFunction<JobContext> = fn({
  doc: describe("Install pyenv: a clone of its repository. Return whether it is there.", "pyenv.install"),
  permissions: "all",
  params: PLACE,
  async run({ runas, path }, context) {
    const place = expandUser(path || await pyenvPath(runas, context));
    if (isDirectory(place)) return true;
    return await git(["clone", "https://github.com/yyuu/pyenv.git", checkedWord(place, "path")], runas, context);
  },
});

export const update: ModuleFunction<JobContext> = fn({
  doc: describe("Update pyenv. Return whether that was done.", "pyenv.update"),
  permissions: "all",
  params: PLACE,
  async run({ runas, path }, context) {
    const place = expandUser(path || await pyenvPath(runas, context));
    return isDirectory(place) && await git(["pull"], runas, context, place);
  },
});

export const is_installed: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether pyenv is installed.", "pyenv.is_installed"),
  permissions: "all",
  params: RUNAS,
  run: async ({ runas }, context) => which(`${await pyenvPath(runas, context)}/bin/pyenv`) !== undefined,
});

/** A version without the prefix that Salt takes. */
function versionWord(python: string): string {
  return checkedWord(python.replace(/^python-/, ""), "version");
}

async function uninstall(version: string, runas: string | null, context: JobContext): Promise<true> {
  await pyenv(["uninstall", "--force", version], runas, context);
  return true;
}

async function makeShims(runas: string | null, context: JobContext): Promise<true> {
  await pyenv(["rehash"], runas, context);
  return true;
}

export const install_python: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Install a Python. Return what pyenv tells of it, or False if it failed; then what is left of it is removed.",
    "pyenv.install_python 2.0.0-p0",
  ),
  permissions: "all",
  params: { python: p.str(), ...RUNAS },
  async run({ python, runas }, context) {
    const version = versionWord(python);
    const set = await context.call("config.option", ["pyenv.build_env"]);
    const env = truthy(set) ? splitWhitespace(str(set)) : [];
    const unfit = env.find((word) => !/^[A-Za-z_]\w*=/.test(word));
    if (unfit !== undefined) throw new CommandError(`pyenv.build_env: ${unfit} is no variable with a value`);
    const result = await pyenv(["install", version], runas, context, env);
    if (result?.retcode === 0) {
      await makeShims(runas, context);
      return result.stderr;
    }
    await uninstall(version, runas, context);
    return false;
  },
});

export const uninstall_python: ModuleFunction<JobContext> = fn({
  doc: describe("Uninstall a Python.", "pyenv.uninstall_python 2.0.0-p0"),
  permissions: "all",
  params: { python: p.str(), ...RUNAS },
  run: ({ python, runas }, context) => uninstall(versionWord(python), runas, context),
});

export const versions: ModuleFunction<JobContext> = fn({
  doc: describe("Return the installed Pythons.", "pyenv.versions"),
  permissions: "all",
  params: RUNAS,
  run: async ({ runas }, context) => splitLines(await outputOf(["versions", "--bare"], runas, context) ?? ""),
});

export const default_: ModuleFunction<JobContext> = fn({
  doc: describe("Return the default Python, or set it.", "pyenv.default", "pyenv.default 2.0.0-p0"),
  permissions: "all",
  params: { python: p.str(null), ...RUNAS },
  async run({ python, runas }, context) {
    if (!python) return (await outputOf(["global"], runas, context) ?? "").trim();
    await pyenv(["global", checkedWord(python, "version")], runas, context);
    return true;
  },
});

export const list: ModuleFunction<JobContext> = fn({
  doc: describe("Return the Pythons that can be installed.", "pyenv.list"),
  permissions: "all",
  params: RUNAS,
  async run({ runas }, context) {
    const lines = splitLines(await outputOf(["install", "--list"], runas, context) ?? "");
    return lines.filter((line) => line !== "Available versions:").map((line) => line.trim());
  },
});

export const rehash: ModuleFunction<JobContext> = fn({
  doc: describe("Make the shims of the installed programs again.", "pyenv.rehash"),
  permissions: "all",
  params: RUNAS,
  run: ({ runas }, context) => makeShims(runas, context),
});

/** Runs the words of a command with the shims before PATH; False if it fails. */
async function runWithShims(words: readonly string[], runas: string | null, context: JobContext) {
  const path = quoteShellWord(await pyenvPath(runas, context));
  const line = `env PATH=${path}/shims:$PATH  ${words.map(quoteShellWord).join(" ")}`;
  const result = mapOrEmpty(
    await context.call("cmd.run_all", [line], map({ runas, python_shell: true, shell: "/bin/sh" })),
  );
  if (result.get("retcode") !== 0) return false;
  await makeShims(runas, context);
  return result.get("stdout") ?? "";
}

export const do_: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Run a command with pyenv's shims. Return what it prints, or False if it fails.",
    "pyenv.do 'gem list bundler'",
    "pyenv.do 'gem list bundler' deploy",
  ),
  permissions: "all",
  params: { cmdline: p.str(null), ...RUNAS },
  run: ({ cmdline, runas }, context) => runWithShims(splitWhitespace(cmdline ?? ""), runas, context),
});

export const do_with_python: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Run a command with pyenv's shims, of a Python. Return what it prints, or False if it fails.",
    "pyenv.do_with_python 2.0.0-p0 'gem list bundler'",
    "pyenv.do_with_python 2.0.0-p0 'gem list bundler' deploy",
  ),
  permissions: "all",
  params: { python: p.str(), cmdline: p.str(), ...RUNAS },
  run({ python, cmdline, runas }, context) {
    const words = splitWhitespace(cmdline);
    return runWithShims(python === "" ? words : [`PYENV_VERSION=${python}`, ...words], runas, context);
  },
});
