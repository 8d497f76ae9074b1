/**
 * What the states of packages ask of the package manager before they act: names, installed versions, names it does not
 * know. Source: Salt 3008.3 `salt/states/pkg.py`.
 * @module
 */

import { hasFunction, keywords } from "#modules/states/_execution.ts";
import { fulfillsConditions, type WantedPackages } from "./versions.ts";
import { CommandError } from "#lib/errors.ts";
import { parsePackageList, refusedPackages, repackTargets } from "#lib/host/packages/package_targets.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { failState, type StateResult } from "#lib/plugins/state_module.ts";
import { compareStrings, isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The versions of installed packages. */
export type InstalledVersions = ReadonlyMap<string, readonly string[]>;

/** Normalizes package names: removes the host's own architecture. */
async function nameNormalizer(names: readonly string[], context: StateContext): Promise<(name: string) => string> {
  const normalized = new Map<string, string>();
  if (await hasFunction("pkg.normalize_name", context)) {
    for (const name of names) normalized.set(name, str(await context.call("pkg.normalize_name", [name])));
  }
  return (name) => normalized.get(name) ?? name;
}

/** One name in the notation of the host's package manager. */
export async function normalizePackageName(name: string, context: StateContext): Promise<string> {
  return (await nameNormalizer([name], context))(name);
}

/**
 * The packages of a state's `pkgs`.
 * @throws {InvocationError} If two have one name, or a text is the YAML of none.
 */
export async function wantedPackages(
  pkgs: Value,
  normalize: boolean,
  context: StateContext,
): Promise<Map<string, string | null>> {
  const list = parsePackageList(pkgs) ?? [];
  if (list.length === 0 && truthy(pkgs)) throw refusedPackages(pkgs);
  const names = list.flatMap((one) => isMap(one) ? [...one.keys()] : [one]).map(str);
  return repackTargets(list, normalize ? await nameNormalizer(names, context) : (name) => name);
}

/** The packages of a state's `sources` with their files; empty if it is not a list of maps with one key. */
export async function wantedSources(
  sources: Value,
  normalize: boolean,
  context: StateContext,
): Promise<Map<string, string>> {
  const list = parsePackageList(sources) ?? [];
  if (!list.every((one): one is ValueMap => isMap(one) && one.size === 1)) {
    context.log("error", "Input must be a list of 1-element dicts");
    return new Map();
  }
  const entries = list.flatMap((one) => [...one]).map(([name, file]): [string, string] => [str(name), str(file)]);
  const rename = normalize ? await nameNormalizer(entries.map(([name]) => name), context) : (name: string) => name;
  return new Map(entries.map(([name, file]) => [rename(name), file]));
}

/** The installed packages with all their versions. */
export async function listInstalledVersions(context: StateContext, kwargs: ValueMap): Promise<InstalledVersions> {
  return asInstalled(await context.call("pkg.list_pkgs", [], keywords({ versions_as_list: true }, kwargs)));
}

/** Packages as a function returned them, each with a list of versions or a text. */
export function asInstalled(packages: Value): InstalledVersions {
  return new Map(
    [...isMap(packages) ? packages : []].map(([name, versions]) => [
      str(name),
      Array.isArray(versions) ? versions.map(str) : isMap(versions) ? [...versions.keys()].map(str) : [str(versions)],
    ]),
  );
}

/** What packages provide besides their names, by capability; empty unless the state is to resolve them. */
export async function capabilities(context: StateContext, kwargs: ValueMap): Promise<InstalledVersions> {
  if (!kwargs.get("resolve_capabilities") || !await hasFunction("pkg.list_provides", context)) return new Map();
  return asInstalled(await context.call("pkg.list_provides", [], keywords({}, kwargs)));
}

/**
 * Replaces capabilities by packages' names, where the package manager can.
 * @returns The packages, and whether to refresh yet.
 */
export async function resolveCapabilities(
  pkgs: Value,
  refresh: boolean,
  kwargs: ValueMap,
  context: StateContext,
): Promise<[Value, boolean]> {
  const isEmpty = pkgs === null || (Array.isArray(pkgs) && pkgs.length === 0);
  if (isEmpty || !await hasFunction("pkg.resolve_capabilities", context)) return [pkgs, refresh];
  return [await context.call("pkg.resolve_capabilities", [pkgs], keywords({ refresh }, kwargs)), false];
}

/** The failure for names that the package manager does not know; `undefined` if it knows all, or cannot tell. */
export async function unknownPackages(
  name: Value,
  wanted: WantedPackages,
  kwargs: ValueMap,
  context: StateContext,
): Promise<StateResult | undefined> {
  if (!await hasFunction("pkg.check_db", context)) return undefined;
  let answers: Value;
  try {
    answers = await context.call("pkg.check_db", [...wanted.keys()], keywords({}, kwargs));
  } catch (error) {
    if (error instanceof CommandError) return undefined;
    throw error;
  }
  const unknown: string[] = [];
  const comments: string[] = [];
  for (const [key, answer] of isMap(answers) ? answers : []) {
    if (!isMap(answer) || answer.get("found") !== false) continue;
    const suggestions = answer.get("suggestions");
    if (!Array.isArray(suggestions) || suggestions.length === 0) unknown.push(str(key));
    else {
      comments.push(`Package '${str(key)}' not found (possible matches: ${suggestions.map(str).join(", ")})`);
    }
  }
  if (unknown.length > 0) {
    comments.unshift(
      "The following package(s) were not found, and no possible matches were found in the package db: " +
        unknown.sort(compareStrings).join(", "),
    );
  }
  if (comments.length === 0) return undefined;
  return failState(name, comments.length > 1 ? `${comments.join(". ")}.` : comments[0]);
}

/** The packages that are installed in the requested version, and the others. */
export async function verifiedPackages(
  wanted: WantedPackages,
  { installed, provided = new Map(), ignoreEpoch }: {
    readonly installed: InstalledVersions;
    readonly provided?: InstalledVersions;
    readonly ignoreEpoch: boolean | null;
  },
  context: StateContext,
): Promise<{ readonly ok: string[]; readonly failed: string[] }> {
  const [ok, missing]: [string[], string[]] = [[], []];
  for (const [name, version] of wanted) {
    const bare = name.split("=", 1)[0];
    const versions = versionsOf(bare, installed) ?? versionsOf(await normalizePackageName(bare, context), installed) ??
      versionsOf(provided.get(bare)?.[0] ?? "", installed);
    const isThere = versions !== undefined && (
      version === null || version === "" || version === "latest" ||
      (version.endsWith("*") && versions[0].startsWith(version.slice(0, -1))) ||
      await fulfillsConditions(versions, version, { ignoreEpoch }, context)
    );
    (isThere ? ok : missing).push(name);
  }
  return { ok, failed: missing };
}

/** The versions of a package; `undefined` if there are none. */
export function versionsOf(name: string, installed: InstalledVersions): readonly string[] | undefined {
  const versions = installed.get(name) ?? [];
  return versions.length > 0 ? versions : undefined;
}

/** The changes of an installation, according to the repositories. */
export async function installableChanges(
  targets: WantedPackages,
  context: StateContext,
  current: ValueMap = new Map(),
): Promise<ValueMap> {
  const latest = [...targets].filter(([, version]) => !version).map(([name]) => name);
  const newest = await context.call("pkg.latest_version", latest);
  const changes: ValueMap = new Map();
  const offered = latest.length === 0
    ? changes // As in Salt, where one map is used for both.
    : typeof newest === "string"
    ? map({ [latest[0]]: newest })
    : isMap(newest)
    ? new Map(newest)
    : new Map();
  const others = [...targets].filter(([, version]) => version).map(([name, version]) =>
    /^[<>=]/.test(version ?? "") ? `${name}${version}` : `${name}=${version}`
  );
  if (others.length > 0) {
    const versions = await context.call("pkg.list_repo_pkgs", others);
    for (const [name, list] of isMap(versions) ? versions : []) {
      if (Array.isArray(list) && list.length > 0) offered.set(name, list[0]);
    }
  }
  for (const name of targets.keys()) {
    changes.set(name, map({ new: offered.get(name) || "installed", old: current.get(name) ?? "" }));
  }
  return changes;
}
