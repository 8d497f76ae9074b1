/**
 * Execution module `npm`: packages of Node.js.
 * Source: the functions of Salt 3008.3 `salt/modules/npm.py`.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { parseEnvironment } from "#lib/programs/command_environment.ts";
import { checkedWord, type ProgramResult, runProgram } from "#lib/programs/run_program.ts";
import { findJson } from "#lib/host/language_packages/npm_output.ts";
import { findUser } from "#lib/os/users.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { hasPassword } from "#lib/text/url_credentials.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, toNumber, truthy, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{
    programs: ["npm"],
    otherwise: "npm execution module could not be loaded because the npm binary could not be located",
  }],
};

/** As whom npm runs, where, and with which environment. */
interface Run {
  readonly runas: string | null;
  readonly env: Value;
  readonly dir?: string | null;
  /** Whether a failure becomes the job's return code. */
  readonly setsRetcode?: boolean;
}

/** Runs npm; if npm changes its user itself, it gets the user that it runs as. */
function npm(
  words: readonly string[],
  { runas, env, dir, setsRetcode }: Run,
  context: JobContext,
): Promise<ProgramResult> {
  const user = runas ? findUser(runas) : undefined;
  const sudo: Record<string, string> = user === undefined || user.uid === 0
    ? {}
    : { SUDO_UID: String(user.uid), SUDO_USER: "" };
  return runProgram(["npm", ...words], context, {
    env: { ...parseEnvironment(env), ...sudo },
    setsRetcode,
    cwd: dir || user?.home || "/",
    ...runas && { runas },
  });
}

const RUN = { runas: p.str(null), env: p.any(null) };

export const install: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Install packages: pkg, or the list pkgs, or the dependencies in dir's package.json; without dir, globally. Return the output of npm, parsed\n" +
      "if it is JSON.",
    "npm.install coffee-script",
    "npm.install coffee-script@1.0.1",
  ),
  permissions: "all",
  params: {
    pkg: p.str(null),
    pkgs: p.any(null),
    dir: p.str(null),
    runas: p.str(null),
    registry: p.str(null),
    env: p.any(null),
    dry_run: p.bool(false),
    silent: p.bool(true),
  },
  async run({ pkg, pkgs, dir, registry, dry_run, silent, ...run }, context) {
    const names = pkg ? [pkg] : listOrEmpty(pkgs).map(str);
    // With a password it is in npm's environment, since others can read arguments.
    const hidden = registry !== null && hasPassword(registry);
    const words = [
      "install",
      "--json",
      ...silent ? ["--silent"] : [],
      ...dir ? [] : ["--global"],
      ...registry && !hidden ? [`--registry=${registry}`] : [],
      ...dry_run ? ["--dry-run"] : [],
      ...names.map((name) => checkedWord(name, "package name")),
    ];
    const { retcode, stdout, stderr } = await npm(words, {
      ...run,
      env: hidden ? map({ ...parseEnvironment(run.env), npm_config_registry: registry }) : run.env,
      dir: dir || "/tmp",
      setsRetcode: true,
    }, context);
    if (retcode !== 0) throw new CommandError(stderr);
    const output = stdout || stderr;
    return findJson(output) ?? output;
  },
});

export const uninstall: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove a package, from dir or the global ones. Return whether it succeeded.",
    "npm.uninstall coffee-script",
  ),
  permissions: "all",
  params: { pkg: p.str(), dir: p.str(null), ...RUN },
  async run({ pkg, dir, ...run }, context) {
    const words = ["uninstall", checkedWord(pkg, "package name"), ...dir ? [] : ["--global"]];
    return (await npm(words, { ...run, dir, setsRetcode: true }, context)).retcode === 0;
  },
});

export const list: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the installed packages, of dir or the global ones, with npm's data on them. depth: of the dependency tree.",
    "npm.list",
  ),
  permissions: "all",
  params: { pkg: p.str(null), dir: p.str(null), ...RUN, depth: p.any(null) },
  async run({ pkg, dir, depth, ...run }, context) {
    if (depth !== null && toNumber(depth) === undefined) {
      throw new InvocationError(`Error: depth ${str(depth)} must be a number`);
    }
    const words = [
      "list",
      "--json",
      "--silent",
      ...dir ? [] : ["--global"],
      ...depth === null ? [] : [`--depth=${Math.trunc(toNumber(depth) ?? 0)}`],
      ...pkg ? [checkedWord(pkg, "package name")] : [],
    ];
    const { retcode, stdout, stderr } = await npm(words, { ...run, dir }, context);
    if (retcode !== 0 && stderr !== "") throw new CommandError(stderr);
    const output = findJson(stdout);
    return isMap(output) ? output.get("dependencies") ?? {} : {};
  },
});

export const cache_clean: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Empty the cache, or remove a path from it; newer versions of npm need force=True. Return whether it succeeded.",
    "npm.cache_clean force=True",
  ),
  permissions: "all",
  params: { path: p.str(null), ...RUN, force: p.bool(false) },
  async run({ path, force, ...run }, context) {
    const words = ["cache", "clean", ...path ? [checkedWord(path, "path")] : [], ...force ? ["--force"] : []];
    const { retcode, stderr } = await npm(words, run, context);
    if (retcode !== 0) context.log("error", stderr);
    return retcode === 0;
  },
});

export const cache_list: ModuleFunction<JobContext> = fn({
  doc: describe("Return the contents of the cache.", "npm.cache_list"),
  permissions: "all",
  params: { path: p.str(null), ...RUN },
  async run({ path, ...run }, context) {
    const words = ["cache", "ls", ...path ? [checkedWord(path, "path")] : []];
    const { retcode, stdout, stderr } = await npm(words, run, context);
    if (retcode !== 0 && stderr !== "") throw new CommandError(stderr);
    return stdout;
  },
});

export const cache_path: ModuleFunction<JobContext> = fn({
  doc: describe("Return the path of the cache.", "npm.cache_path"),
  permissions: "all",
  params: RUN,
  async run(run, context) {
    const { stdout, stderr } = await npm(["config", "get", "cache"], run, context);
    return truthy(stdout) ? stdout : stderr;
  },
});
