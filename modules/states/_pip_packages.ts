/**
 * Which packages of `pip.installed` are installed already.
 * Source: Salt 3008.3 `salt/states/pip_state.py` _check_pkg_version_format, _check_if_installed.
 * @module
 */

import {
  fulfills,
  parseRequirement,
  type Requirement,
  type VersionSpec,
} from "#lib/host/language_packages/python_requirement.ts";
import { comparePythonVersions } from "#lib/host/language_packages/python_version.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** A package that a state names. */
export interface NamedPackage extends Requirement {
  /** As the state names it. */
  readonly given: string;
}

/** Reads a package's name and versions, or returns Salt's error text. */
export function readPackage(given: string): NamedPackage | { readonly problem: string } {
  const read = parseRequirement(given, isDirectory);
  if (read !== undefined) return { ...read, given };
  if (given.includes("=") && !given.includes("==")) {
    return {
      problem: `Invalid version specification in package ${given}. '=' is not supported, use '==' instead.`,
    };
  }
  return { problem: `pip raised an exception while parsing '${given}': Invalid requirement: '${given}'` };
}

/** How packages are found. */
export interface Looking {
  readonly ignore_installed: Value;
  readonly force_reinstall: Value;
  readonly upgrade: Value;
  readonly user: Value;
  readonly cwd: Value;
  readonly bin_env: Value;
  readonly env_vars: Value;
  readonly index_url: Value;
  readonly extra_index_url: Value;
}

/** A map of versions by normalized names. */
function versionsIn(listed: Value): ReadonlyMap<string, string> {
  return new Map([...isMap(listed) ? listed : []].map(([name, version]) => [str(name).toLowerCase(), str(version)]));
}

/** The result of `pip.list` for packages that begin with `prefix`. */
export async function installedVersions(
  prefix: string | undefined,
  { bin_env, user, cwd, env_vars }: Looking,
  context: StateContext,
  more: ValueMap = new Map(),
): Promise<ReadonlyMap<string, string>> {
  const pipOptions = map({ ...prefix !== undefined && { prefix }, bin_env, user, cwd, env_vars });
  return versionsIn(await context.call("pip.list", [], new Map([...pipOptions, ...more])));
}

/** The comment for a package that is installed as requested; `undefined`: it is not. */
export async function alreadyInstalled(
  { name, given, specs }: NamedPackage,
  looking: Looking,
  { known, context, more }: {
    readonly known: ReadonlyMap<string, string> | undefined;
    readonly context: StateContext;
    readonly more: ValueMap;
  },
): Promise<string | undefined> {
  const versions = known !== undefined && known.size > 0
    ? known
    : await installedVersions(name, looking, context, more);
  const version = versions.get(name);
  if (version === undefined || looking.ignore_installed !== false || looking.force_reinstall !== false) {
    return undefined;
  }
  const there = `Python package ${given} was already installed`;
  if (!truthy(looking.upgrade)) return fulfills(version, specs) ? there : undefined;
  const newest = await newestVersion(name, specs, looking, context);
  if (newest === undefined) {
    return `Python package ${name} was already installed and\nthe available upgrade doesn't fulfills the version requirements`;
  }
  return comparePythonVersions(version, newest) === 0 ? there : undefined;
}

/** The newest version that matches. */
async function newestVersion(
  name: string,
  specs: readonly VersionSpec[],
  { bin_env, user, cwd, index_url, extra_index_url }: Looking,
  context: StateContext,
): Promise<string | undefined> {
  const names = (letters: string) => specs.some(({ version }) => version.includes(letters));
  const pipOptions = map({
    bin_env,
    include_alpha: names("a"),
    include_beta: names("b"),
    include_rc: names("rc"),
    user,
    cwd,
    index_url,
    extra_index_url,
  });
  const versionList = await context.call("pip.list_all_versions", [name], pipOptions);
  const versions = listOrEmpty(versionList).map(str);
  return specs.length === 0 ? versions.at(-1) : versions.findLast((version) => fulfills(version, specs));
}
