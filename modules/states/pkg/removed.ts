/**
 * `pkg.removed` and `pkg.purged`.
 * Source: Salt 3008.3 `salt/states/pkg.py`.
 * @module
 */

import { failedChange, keywords } from "#modules/states/_execution.ts";
import { type InstalledVersions, listInstalledVersions, normalizePackageName, wantedPackages } from "./lookup.ts";
import { saltenvOf } from "#modules/states/_saltenv.ts";
import { fulfillsConditions, type WantedPackages } from "./versions.ts";
import { CommandError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { failState, startResult, type StateResult } from "#lib/plugins/state_module.ts";
import { mapOrEmpty, textOrNull } from "#lib/values/shape.ts";
import { compareStrings, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The action: `removed` keeps the configuration. */
export type RemovalAction = "remove" | "purge";

/** The arguments of both states, as they are given. */
export interface RemovalArguments {
  readonly name: string;
  readonly version: Value;
  readonly pkgs: Value;
  readonly normalize: boolean;
  readonly ignore_epoch: boolean | null;
}

/** Families whose package managers may have several versions of one package. */
const MANY_VERSIONS = ["Suse", "RedHat"];
const PRESENT_PARTICIPLE: Readonly<Record<RemovalAction, string>> = { remove: "removing", purge: "purging" };

/**
 * Runs one of them.
 * @param more Keywords for the package manager.
 */
export async function runRemoval(
  action: RemovalAction,
  args: RemovalArguments,
  more: ValueMap,
  context: StateContext,
): Promise<StateResult> {
  const kwargs = new Map(more).set("saltenv", saltenvOf(context));
  try {
    return await remove(action, args, kwargs, context);
  } catch (error) {
    const what = `An error was encountered while ${PRESENT_PARTICIPLE[action]} package(s)`;
    return failedChange(args.name, what, error);
  }
}

/** The packages that a state names. */
async function namedPackages(
  { name, version, pkgs, normalize }: RemovalArguments,
  context: StateContext,
): Promise<Map<string, string | null>> {
  if (truthy(pkgs)) return await wantedPackages(pkgs, normalize, context);
  const wanted = textOrNull(version);
  const names = name.split(",");
  const all = new Map<string, string | null>();
  for (const one of names) all.set(normalize ? await normalizePackageName(one, context) : one, wanted);
  return all;
}

async function remove(
  action: RemovalAction,
  args: RemovalArguments,
  kwargs: ValueMap,
  context: StateContext,
): Promise<StateResult> {
  const { name } = args;
  const packages = await namedPackages(args, context);
  const targetsOrResult = await installedTargets(args, kwargs, context);
  let targets: string[];
  if (Array.isArray(targetsOrResult)) targets = targetsOrResult;
  else if (action === "remove") return targetsOrResult;
  else targets = [];
  if (action === "purge") {
    const leftovers = await removedPackages(kwargs, context);
    targets.push(...[...packages.keys()].filter((one) => leftovers.has(one)));
  }
  targets.sort(compareStrings);
  const past = `${action}d`;
  if (targets.length === 0) {
    const partially = action === "purge" ? " or partially installed" : "";
    return { ...startResult(name), comment: `None of the targeted packages are installed${partially}` };
  }
  if (context.test) {
    const changes: ValueMap = new Map(targets.map((one) => [one, map({ new: past, old: "" })]));
    return { name, result: null, comment: `The following packages will be ${past}: ${targets.join(", ")}.`, changes };
  }
  const own = keywords({ pkgs: args.pkgs, version: args.version, split_arch: false }, kwargs);
  const answer = await context.call(`pkg.${action}`, [name], own);
  const changes = mapOrEmpty(answer);
  const left = stillInstalled(packages, await listInstalledVersions(context, kwargs), context);
  if (action === "purge") {
    const leftovers = await removedPackages(kwargs, context);
    left.push(...[...packages.keys()].filter((one) => leftovers.has(one)));
  }
  if (left.length > 0) {
    const listedNames = left.sort(compareStrings).join(", ");
    return failState(name, `The following packages failed to ${action}: ${listedNames}.`, changes);
  }
  const others = [...packages.keys()].filter((one) => !targets.includes(one)).sort(compareStrings);
  const comment = others.length === 0
    ? `All targeted packages were ${past}.`
    : `The following packages were not installed: ${others.join(", ")} ` +
      `The following packages were ${past}: ${targets.join(", ")}.`;
  return { name, result: true, comment, changes };
}

/** The packages of which only the configuration is left. */
async function removedPackages(kwargs: ValueMap, context: StateContext): Promise<ValueMap> {
  return mapOrEmpty(
    await context.call("pkg.list_pkgs", [], keywords({ versions_as_list: true, removed: true }, kwargs)),
  );
}

/**
 * The installed packages of those that are named.
 * @returns A result if there are none.
 */
async function installedTargets(
  args: RemovalArguments,
  kwargs: ValueMap,
  context: StateContext,
): Promise<string[] | StateResult> {
  const { name, version, pkgs, ignore_epoch } = args;
  const installed = await listInstalledVersions(context, kwargs);
  const wanted: WantedPackages = truthy(pkgs)
    ? await wantedPackages(pkgs, args.normalize, context)
    : new Map([[await normalizePackageName(name, context), textOrNull(version)]]);
  const targets: string[] = [];
  const problems: string[] = [];
  let comparedVersions = false;
  for (const [one, condition] of wanted) {
    const versions = installed.get(one) ?? [];
    if (versions.length === 0) continue;
    if (condition === null) {
      targets.push(one);
      continue;
    }
    comparedVersions = true;
    try {
      if (await fulfillsConditions(versions, condition, { ignoreEpoch: ignore_epoch }, context)) targets.push(one);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      problems.push(error.message);
    }
  }
  if (problems.length > 0) return failState(name, problems.join(" "));
  if (targets.length > 0) return targets;
  const matching = comparedVersions ? " (matching specified versions)" : "";
  return { ...startResult(name), comment: `All specified packages${matching} are already absent` };
}

/** The named packages that are still installed; if several versions are possible, those of the named version. */
function stillInstalled(named: WantedPackages, installed: InstalledVersions, { grains }: StateContext): string[] {
  const family = str(grains.get("os_family") ?? "");
  return [...named].flatMap(([name, version]) => {
    const versions = installed.get(name);
    if (versions === undefined) return [];
    if (!MANY_VERSIONS.includes(family) || !version) return [name];
    return versions.includes(version) ? [`${name}-${version}`] : [];
  });
}
