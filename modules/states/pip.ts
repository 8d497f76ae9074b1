/**
 * State module `pip`: Python packages.
 * Source: Salt 3008.3 `salt/states/pip_state.py`.
 * @module
 */

import { alreadyInstalled, installedVersions, type NamedPackage, readPackage } from "./_pip_packages.ts";
import { orRefused, Refused } from "./_refused.ts";
import { saltenvOf } from "./_saltenv.ts";
import { wheelRefusal } from "./_pip_options.ts";
import { CommandError, CommandNotFoundError, messageOf } from "#lib/errors.ts";
import { normalizePipName } from "#lib/host/language_packages/pip_output.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type Bound, type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = { serves: [{ functions: ["pip.list"], otherwise: "" }] };

/** Options of `pip install`, which are handed on. */
const OPTIONS = {
  requirements: p.any(null),
  bin_env: p.any(null),
  use_wheel: p.any(false),
  no_use_wheel: p.any(false),
  log: p.any(null),
  proxy: p.any(null),
  timeout: p.any(null),
  repo: p.any(null),
  editable: p.any(null),
  find_links: p.any(null),
  index_url: p.any(null),
  extra_index_url: p.any(null),
  no_index: p.any(false),
  mirrors: p.any(null),
  build: p.any(null),
  target: p.any(null),
  download: p.any(null),
  download_cache: p.any(null),
  source: p.any(null),
  upgrade: p.any(false),
  force_reinstall: p.any(false),
  ignore_installed: p.any(false),
  exists_action: p.any(null),
  no_deps: p.any(false),
  no_install: p.any(false),
  no_download: p.any(false),
  install_options: p.any(null),
  global_options: p.any(null),
  user: p.any(null),
  cwd: p.any(null),
  pre_releases: p.any(false),
  cert: p.any(null),
  allow_all_external: p.any(false),
  allow_external: p.any(null),
  allow_unverified: p.any(null),
  process_dependency_links: p.any(false),
  env_vars: p.any(null),
  use_vt: p.any(false),
  trusted_host: p.any(null),
  no_cache_dir: p.any(false),
  cache_dir: p.any(null),
  no_binary: p.any(null),
  extra_args: p.any(null),
};

/** Arguments of older Salt without effect, which pip.install does not get. */
const NOT_PASSED = ["cache_dir", "repo"];

const INSTALLED = {
  name: p.any(),
  pkgs: p.any(null),
  pip_bin: p.any(null),
  ...OPTIONS,
};

const WHERE_DOC = `bin_env
    A virtual environment, or the path of a pip or Python. Default: python3 of PATH.

user
    The user who runs pip.

cwd
    The directory that it runs in.`;

export const installed: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that Python packages are installed.

name
    The package, with versions: \`requests >= 2, < 3\`; or a URL or a directory.

pkgs
    A list of packages, instead of the name.

requirements
    A requirements file, or a list of them: salt:// or a path. Then pip decides what to install.

editable
    A directory or a URL to install in development mode.

upgrade : False
    Whether the newest version that fits is installed.

force_reinstall, ignore_installed : False
    Whether pip installs existing packages again.

${WHERE_DOC}

pip_bin
    Another name of bin_env.

env_vars
    Environment variables of pip.

log, proxy, timeout, find_links, index_url, extra_index_url, no_index, mirrors, build, target, download, download_cache,
source, exists_action, no_deps, no_install, no_download, install_options, global_options, pre_releases, cert,
allow_all_external, allow_external, allow_unverified, process_dependency_links, trusted_host, no_cache_dir, no_binary,
use_wheel, no_use_wheel
    Options of pip with these names.

extra_args
    More options of pip, as a list.

use_vt, repo, cache_dir
    Without effect.`,
  params: INSTALLED,
  varKwargs: "kwargs",
  run: (given, context, { kwargs }) => orRefused(startResult(given.name), () => install(given, context, kwargs)),
});

async function install(given: Bound<typeof INSTALLED>, context: StateContext, more: ValueMap): Promise<StateResult> {
  const bound = { ...given, bin_env: truthy(given.bin_env) ? given.bin_env : given.pip_bin ?? given.bin_env };
  if (truthy(given.pkgs) && !Array.isArray(given.pkgs)) {
    return failState(given.name, "pkgs argument must be formatted as a list");
  }
  const pkgs = Array.isArray(given.pkgs) && given.pkgs.length > 0 ? given.pkgs.map(str) : [str(given.name)];
  const name = pkgs.join(";");
  const refuseWith = (comment: string, result: boolean | null = false) => new Refused(comment, { name, result });
  let version: string;
  try {
    version = str(await context.call("pip.version", [bound.bin_env]));
  } catch (error) {
    if (!(error instanceof CommandError || error instanceof CommandNotFoundError)) throw error;
    throw refuseWith(`Error installing '${str(given.name)}': ${error.message}`);
  }
  const refusal = wheelRefusal(bound, version);
  if (refusal !== undefined) throw refuseWith(refusal);
  const byFile = truthy(given.requirements) || truthy(given.editable);
  const packages: NamedPackage[] = [];
  if (!byFile) {
    const read = pkgs.map(readPackage);
    const problems = read.flatMap((one) => "problem" in one ? [one.problem] : []);
    if (problems.length > 0) throw refuseWith(problems.join("\n"));
    packages.push(...read.flatMap((one) => "problem" in one ? [] : [one]));
  }
  if (truthy(given.user) && !truthy(await context.call("user.info", [given.user]))) {
    throw refuseWith(`User ${str(given.user)} does not exist`);
  }
  if (byFile) {
    if (context.test) throw refuseWith(wouldProcess(given), null);
    const ran = await runPip("", bound, context, more);
    return { ...processReturn(given, ran), name };
  }
  const { wanted, there } = await missingPackages(packages, { bound, context, more });
  if (wanted.length === 0) {
    const last = `All specified packages are already installed${truthy(given.upgrade) ? " and up-to-date" : ""}`;
    return { ...startResult(name), comment: [...there, last].join("\n") };
  }
  if (context.test) {
    throw refuseWith(
      packages.length > 1
        ? ["Python package(s) set to be installed:", ...packages.map((one) => one.given)].join("\n")
        : `Python package ${wanted[0].given} is set to be installed`,
      null,
    );
  }
  // Commas separate packages for pip.install, so commas between versions are replaced.
  const names = wanted.map((one) => one.given.replaceAll(",", ";"));
  const ran = await runPip(names.join(","), bound, context, more);
  if (ran.get("retcode") !== 0) {
    throw refuseWith([...there, `Failed to install packages: ${names.join(", ")}. ${errorOf(ran)}`].join("\n"));
  }
  const { changes, comments } = await verifyInstalled(wanted, ran, { bound, context, more });
  return { name, result: true, changes, comment: [...there, ...comments].join("\n") };
}

/** The data to determine the states of packages. */
interface Work {
  readonly bound: Bound<typeof INSTALLED>;
  readonly context: StateContext;
  readonly more: ValueMap;
}

/** The packages to install, and the comments for the others. */
async function missingPackages(
  packages: readonly NamedPackage[],
  { bound, context, more }: Work,
): Promise<{ readonly wanted: readonly NamedPackage[]; readonly there: readonly string[] }> {
  const known = await installedVersions(undefined, bound, context).catch((error) => {
    if (!(error instanceof CommandError || error instanceof CommandNotFoundError)) throw error;
    context.log("warning", `The packages of pip could not be listed: ${error.message}`);
    return undefined;
  });
  const wanted: NamedPackage[] = [];
  const there: string[] = [];
  for (const one of packages) {
    const present = one.name === "" ? undefined : await alreadyInstalled(one, bound, { known, context, more });
    if (present === undefined) wanted.push(one);
    else there.push(present);
  }
  return { wanted, there };
}

/** Runs `pip install`. */
async function runPip(
  pkgs: string,
  bound: Bound<typeof INSTALLED>,
  context: StateContext,
  more: ValueMap,
): Promise<ValueMap> {
  const passed = Object.keys(OPTIONS).filter((key) => !NOT_PASSED.includes(key));
  const options = passed.map((key): [string, Value] => [key, bound[key as keyof typeof OPTIONS]]);
  const own = map({ pkgs, ...Object.fromEntries(options), saltenv: saltenvOf(context), disable_version_check: true });
  const ran = await context.call("pip.install", [], new Map([...own, ...more]));
  if (isMap(ran) && ran.size > 0) return ran;
  throw new Refused("Could not install package");
}

function errorOf(ran: ValueMap): string {
  const text = (key: string) => str(ran.get(key) ?? "");
  return ran.has("stdout") ? `Error: ${text("stdout")} ${text("stderr")}` : `Error: ${text("comment")}`;
}

/** The comment of test mode for requirements. */
function wouldProcess({ requirements, editable }: Bound<typeof INSTALLED>): string {
  return [
    ...truthy(requirements) ? [`Requirements file '${str(requirements)}' will be processed.`] : [],
    ...truthy(editable)
      ? [`Package will be installed in editable mode (i.e. setuptools "develop mode") from ${str(editable)}.`]
      : [],
  ].join(" ");
}

/** Lines of pip that report no change. */
const NO_CHANGE: readonly string[] = [
  "Requirement already satisfied",
  "Requirement already up-to-date",
  "Requirement not upgraded",
  "Collecting",
  "Cloning",
  "Cleaning up...",
  "Looking in indexes",
];

/** The result of requirements and editable packages. */
function processReturn({ requirements, editable }: Bound<typeof INSTALLED>, ran: ValueMap): StateResult {
  if (ran.get("retcode") !== 0) {
    throw new Refused(
      [
        ...truthy(requirements) ? [`Unable to process requirements file "${str(requirements)}"`] : [],
        ...truthy(editable) ? [`Unable to install from VCS checkout ${str(editable)}.`] : [],
        errorOf(ran),
      ].join(" "),
    );
  }
  const changes: ValueMap = new Map();
  const comments: string[] = [];
  if (truthy(requirements)) {
    const lines = str(ran.get("stdout") ?? "").split("\n").map((line) => line.trim());
    if (lines.some((line) => !NO_CHANGE.some((beginning) => line.startsWith(beginning)))) {
      changes.set("requirements", true);
    }
    comments.push(
      changes.size > 0
        ? `Successfully processed requirements file ${str(requirements)}.`
        : "Requirements were already installed.",
    );
  }
  if (truthy(editable)) {
    comments.push(`Package successfully installed from VCS checkout ${str(editable)}.`);
    changes.set("editable", true);
  }
  return { name: null, result: true, changes, comment: comments.join(" ") };
}

/** Checks whether the packages are installed now. */
async function verifyInstalled(
  wanted: readonly NamedPackage[],
  ran: ValueMap,
  { bound, context, more }: Work,
): Promise<{ readonly changes: ValueMap; readonly comments: readonly string[] }> {
  const before = new Set(
    [...str(ran.get("stdout") ?? "").matchAll(/^Requirement already (?:satisfied|up-to-date): (\S+)/gm)]
      .map(([, requirement]) => normalizePipName(requirement.split(/[=!<>~@]/)[0])),
  );
  const changes: ValueMap = new Map();
  const lost: string[] = [];
  for (const { name, given } of wanted) {
    if (name === "") {
      changes.set(`${given.replaceAll(",", ";")}==???`, "Installed");
      continue;
    }
    const versions = await installedVersions(name, bound, context, more);
    const version = versions.get(name);
    if (versions.size === 0) {
      lost.push(
        `There was no error installing package '${given}' although it does not show when calling 'pip.freeze'.`,
      );
    } else if (version !== undefined && !before.has(name)) changes.set(`${name}==${version}`, "Installed");
  }
  return { changes, comments: lost.length > 0 ? lost : ["All packages were successfully installed"] };
}

const REMOVED = {
  name: p.any(),
  requirements: p.any(null),
  bin_env: p.any(null),
  log: p.any(null),
  proxy: p.any(null),
  timeout: p.any(null),
  user: p.any(null),
  cwd: p.any(null),
  use_vt: p.any(false),
};

export const removed: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a Python package is not installed.

name
    The package.

requirements
    A requirements file, whose packages are removed too.

${WHERE_DOC}

log, proxy, timeout
    Options of pip with these names.

use_vt : False
    Without effect.`,
  params: REMOVED,
  async run({ name, ...given }, context) {
    const { bin_env, user, cwd } = given;
    let packages: Value;
    try {
      packages = await context.call("pip.list", [], map({ bin_env, user, cwd }));
    } catch (error) {
      if (!(error instanceof CommandError || error instanceof CommandNotFoundError)) throw error;
      return failState(name, `Error uninstalling '${str(name)}': ${error.message}`);
    }
    if (!isMap(packages) || !packages.has(name)) return { ...startResult(name), comment: "Package is not installed." };
    if (context.test) return { ...startResult(name, null), comment: `Package ${str(name)} is set to be removed` };
    if (!truthy(await context.call("pip.uninstall", [], map({ pkgs: name, ...given })))) {
      return failState(name, "Could not remove package.");
    }
    return { name, result: true, changes: new Map([[name, "Removed"]]), comment: "Package was successfully removed." };
  },
});

export const uptodate: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that all Python packages have their newest versions.

name
    A text, unique in the run.

${WHERE_DOC}

use_vt : False
    Without effect.`,
  params: { name: p.any(), bin_env: p.any(null), user: p.any(null), cwd: p.any(null), use_vt: p.any(false) },
  async run({ name, use_vt, ...where }, context) {
    let upgrades: Value;
    try {
      upgrades = await context.call("pip.list_upgrades", [], map(where));
    } catch (error) {
      context.signal.throwIfAborted();
      return failState(name, messageOf(error));
    }
    if (!truthy(upgrades)) return { ...startResult(name), comment: "System is already up-to-date." };
    if (context.test) return { ...startResult(name, null), comment: "System update will be performed" };
    const updated = await context.call("pip.upgrade", [], map({ ...where, use_vt }));
    if (!isMap(updated) || updated.size === 0) return failState(name, "Upgrade failed.");
    if (updated.get("result") === false) {
      const changes = updated.get("changes");
      return failState(name, str(updated.get("comment") ?? "Failed to update."), mapOrEmpty(changes));
    }
    return { name, result: true, changes: updated, comment: "Upgrade successful." };
  },
});
