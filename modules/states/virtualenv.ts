/**
 * State module `virtualenv`: virtual environments of Python, with packages.
 * Source: Salt 3008.3 `salt/states/virtualenv_mod.py`.
 * @module
 */

import { stripChars, withoutEndSlashes } from "#lib/values/python_text.ts";
import { wheelRefusal } from "./_pip_options.ts";
import { orRefused, Refused } from "./_refused.ts";
import { saltenvOf } from "./_saltenv.ts";
import { CommandError, CommandNotFoundError } from "#lib/errors.ts";
import { quoteShellWord } from "#lib/text/shell_words.ts";
import { absolutePath, dirName } from "#lib/os/paths.ts";
import { mayExist } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type Bound, type ModuleFunction, p } from "#lib/plugins/module.ts";
import { startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ functions: ["virtualenv.create"], otherwise: "virtualenv module could not be loaded" }],
};

const MANAGED = {
  name: p.any(),
  venv_bin: p.any(null),
  requirements: p.any(null),
  system_site_packages: p.any(false),
  distribute: p.any(false),
  use_wheel: p.any(false),
  clear: p.any(false),
  python: p.any(null),
  extra_search_dir: p.any(null),
  never_download: p.any(null),
  prompt: p.any(null),
  user: p.any(null),
  cwd: p.any(null),
  index_url: p.any(null),
  extra_index_url: p.any(null),
  pre_releases: p.any(false),
  no_deps: p.any(false),
  pip_download: p.any(null),
  pip_download_cache: p.any(null),
  pip_exists_action: p.any(null),
  pip_ignore_installed: p.any(false),
  proxy: p.any(null),
  use_vt: p.any(false),
  env_vars: p.any(null),
  no_use_wheel: p.any(false),
  pip_upgrade: p.any(false),
  pip_pkgs: p.any(null),
  pip_no_cache_dir: p.any(false),
  pip_cache_dir: p.any(null),
  process_dependency_links: p.any(false),
  no_binary: p.any(null),
};

type Given = Bound<typeof MANAGED>;

const DOC = `Make sure that a virtual environment with packages exists.

name
    Its directory.

requirements
    A file of requirements that pip installs: salt:// or a path, or a list of paths.

pip_pkgs
    Packages that pip installs.

clear : False
    Whether the environment is created again in each run.

venv_bin, python, system_site_packages, distribute, extra_search_dir, never_download, prompt
    Options of virtualenv.create.

user
    The user who creates it and runs pip.

cwd
    The directory that pip runs in. Default: that of a relative file of requirements.

pip_upgrade, pip_download, pip_download_cache, pip_exists_action, pip_ignore_installed, pip_no_cache_dir, pip_cache_dir,
index_url, extra_index_url, pre_releases, no_deps, proxy, env_vars, process_dependency_links, no_binary, use_wheel,
no_use_wheel
    Options of pip.install, there without \`pip_\`.

use_vt : False
    Without effect.`;

/**
 * The local path of a requirements file; its newest copy is fetched.
 * @throws {Refused} If there is none.
 */
async function localRequirements(requirements: Value, context: StateContext): Promise<Value> {
  if (typeof requirements !== "string" || !requirements.startsWith("salt://")) return requirements;
  const copy = await context.call("cp.cache_file", [requirements, saltenvOf(context)]);
  if (truthy(copy)) return copy;
  throw new Refused(`pip requirements file '${requirements}' not found`);
}

/** The version that a Python reports. */
async function versionOf(python: string, context: StateContext): Promise<string> {
  return stripChars(str(await context.call("cmd.run_stderr", [`${quoteShellWord(python)} -V`])), "\n");
}

async function manageEnvironment(given: Given, context: StateContext, more: ValueMap): Promise<StateResult> {
  const { name, clear } = given;
  const python = `${withoutEndSlashes(str(name))}/bin/python`;
  const there = mayExist(python);
  const requirements = await localRequirements(given.requirements, context);
  const changes: ValueMap = new Map();
  if (there && truthy(clear)) {
    changes.set("cleared_packages", await context.call("pip.freeze", [], map({ bin_env: name })));
    changes.set("old", await versionOf(python, context));
  }
  const start = { ...startResult(name), changes };
  if (context.test) {
    if (there && !truthy(clear)) return { ...start, comment: `Virtualenv ${str(name)} is already created` };
    return { ...start, result: null, comment: `Virtualenv ${str(name)} is set to be ${there ? "cleared" : "created"}` };
  }
  let comment = "virtualenv exists";
  if (!there || truthy(clear)) {
    await create(given, { context, more, changes });
    changes.set("new", await versionOf(python, context));
    comment = truthy(clear) ? "Cleared existing virtualenv" : "Created new virtualenv";
  }
  if (truthy(given.use_wheel) || truthy(given.no_use_wheel) || truthy(given.no_binary)) {
    const version = str(await context.call("pip.version", [], map({ bin_env: name })));
    const refusal = wheelRefusal(given, version);
    if (refusal !== undefined) throw new Refused(refusal, { changes });
  }
  if (!truthy(requirements) && !truthy(given.pip_pkgs)) return { ...start, comment };
  const ran = await populate({ ...given, requirements }, { context, more, changes });
  const retcode = Number(ran.get("retcode") ?? 1);
  if (retcode === 0) return { ...start, comment };
  const output = `${comment}\n${str(ran.get("stdout") ?? "")}\n${str(ran.get("stderr") ?? "")}`;
  return { ...start, result: false, comment: retcode > 0 ? output : comment };
}

/** The data of the state. */
interface Work {
  readonly context: StateContext;
  readonly more: ValueMap;
  readonly changes: ValueMap;
}

/**
 * Makes the environment.
 * @throws {Refused} If that fails.
 */
async function create(given: Given, { context, more, changes }: Work): Promise<void> {
  const { name, venv_bin, system_site_packages, distribute, clear, python, extra_search_dir, never_download } = given;
  const { prompt, user, use_vt } = given;
  const own = { venv_bin, system_site_packages, distribute, clear, python, extra_search_dir, never_download };
  const options = new Map([...map({ ...own, prompt, user, use_vt }), ...more]);
  let answer: Value;
  try {
    answer = await context.call("virtualenv.create", [name], options);
  } catch (error) {
    if (!(error instanceof CommandNotFoundError)) throw error;
    throw new Refused(`Failed to create virtualenv: ${error.message}`, { changes });
  }
  if (isMap(answer) && answer.get("retcode") === 0) return;
  const text = (key: string) => isMap(answer) ? str(answer.get(key) ?? "") : "";
  throw new Refused(text("stdout") + text("stderr"), { changes });
}

/**
 * Installs packages, and reports new and removed ones.
 * @returns The output of pip.
 */
async function populate(given: Given, { context, more, changes }: Work): Promise<ValueMap> {
  const { name, user, use_vt, requirements } = given;
  const freeze = async (options: Readonly<Record<string, unknown>>): Promise<string[]> => {
    return listOrEmpty(await context.call("pip.freeze", [], map({ bin_env: name, ...options }))).map(str);
  };
  const before = await freeze({ user, use_vt }).catch((error) => {
    if (error instanceof CommandError) throw new Refused(error.message, { changes });
    throw error;
  });
  const first = Array.isArray(requirements) ? str(requirements[0] ?? "") : str(requirements ?? "").split(",")[0];
  const isRelative = first !== "" && first !== absolutePath(first);
  const own = {
    pkgs: given.pip_pkgs,
    requirements,
    process_dependency_links: given.process_dependency_links,
    bin_env: name,
    use_wheel: given.use_wheel,
    no_use_wheel: given.no_use_wheel,
    no_binary: given.no_binary,
    user,
    cwd: isRelative ? dirName(absolutePath(first)) : given.cwd,
    index_url: given.index_url,
    extra_index_url: given.extra_index_url,
    download: given.pip_download,
    download_cache: given.pip_download_cache,
    pre_releases: given.pre_releases,
    exists_action: given.pip_exists_action,
    ignore_installed: given.pip_ignore_installed,
    upgrade: given.pip_upgrade,
    no_deps: given.no_deps,
    proxy: given.proxy,
    use_vt,
    env_vars: given.env_vars,
    no_cache_dir: given.pip_no_cache_dir,
    cache_dir: given.pip_cache_dir,
  };
  const ran = await context.call("pip.install", [], new Map([...map(own), ...more]));
  const after = await freeze({});
  const added = after.filter((line) => !before.includes(line));
  const gone = before.filter((line) => !after.includes(line));
  const orNothing = (lines: readonly string[]): Value => lines.length > 0 ? [...lines] : "";
  if (added.length + gone.length > 0) {
    changes.set("packages", new Map<Value, Value>([["new", orNothing(added)], ["old", orNothing(gone)]]));
  }
  return mapOrEmpty(ran);
}

export const managed: ModuleFunction<StateContext> = stateFn({
  doc: DOC,
  params: MANAGED,
  varKwargs: "kwargs",
  run: (given, context, { kwargs }) =>
    orRefused(startResult(given.name), () => manageEnvironment(given, context, kwargs)),
});

export const manage: ModuleFunction<StateContext> = stateFn({
  doc: DOC,
  params: MANAGED,
  varKwargs: "kwargs",
  run: (given, context, { kwargs }) =>
    orRefused(startResult(given.name), () => manageEnvironment(given, context, kwargs)),
});
