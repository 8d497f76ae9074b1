/**
 * `pkg.downloaded`, `pkg.patch_installed` and `pkg.patch_downloaded`: for package managers that can fetch without
 * installing, and those that have patches by advisory.
 * Source: Salt 3008.3 `salt/states/pkg.py`.
 * @module
 */

import { failedChange, hasFunction, keywords } from "#modules/states/_execution.ts";
import { asInstalled, resolveCapabilities, unknownPackages, verifiedPackages, wantedPackages } from "./lookup.ts";
import { fulfillsConditions, shownPackage } from "./versions.ts";
import { CommandError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { failState, startResult, type StateResult } from "#lib/plugins/state_module.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

const FAILED = "An error was encountered while downloading package(s)";

/** The arguments of `pkg.downloaded`, as they are given. */
export interface DownloadedArguments {
  readonly name: string;
  readonly version: Value;
  readonly pkgs: Value;
  readonly fromrepo: Value;
  readonly ignore_epoch: boolean | null;
}

/**
 * Runs `pkg.downloaded`.
 * @param more Keywords for the package manager.
 */
export async function runDownloaded(
  args: DownloadedArguments,
  more: ValueMap,
  context: StateContext,
): Promise<StateResult> {
  const { name, version, fromrepo, ignore_epoch } = args;
  if (!await hasFunction("pkg.list_downloaded", context)) {
    return failState(name, "The pkg.downloaded state is not available on this platform");
  }
  if (Array.isArray(args.pkgs) && args.pkgs.length === 0) {
    return { ...startResult(name), comment: "No packages to download provided" };
  }
  const kwargs = new Map(more);
  kwargs.delete("downloadonly");
  const given = truthy(args.pkgs) ? args.pkgs : [truthy(version) ? new Map([[name, version]]) : name];
  const [pkgs] = await resolveCapabilities(given, false, kwargs, context);
  const targets = await downloadTargets({ ...args, pkgs }, keywords({ fromrepo }, kwargs), context);
  if (!(targets instanceof Map)) return targets;
  if (context.test) {
    const comment = `The following packages would be downloaded: ${[...targets.keys()].join(", ")}`;
    return { ...startResult(name, null), comment };
  }
  let changes: Value;
  try {
    const own = { name, pkgs, downloadonly: true, fromrepo, ignore_epoch };
    changes = await context.call("pkg.install", [], keywords(own, kwargs));
  } catch (error) {
    return failedChange(name, FAILED, error);
  }
  const packages = mapOrEmpty(changes);
  const now = asInstalled(await context.call("pkg.list_downloaded", [], keywords({}, kwargs)));
  const { failed: missing } = await verifiedPackages(targets, { installed: now, ignoreEpoch: ignore_epoch }, context);
  if (missing.length > 0) {
    const names = missing.map((one) => shownPackage(one, targets)).join(", ");
    return failState(name, `The following packages failed to download: ${names}`, packages);
  }
  const comment = packages.size === 0 ? `Packages downloaded: ${[...targets.keys()].join(", ")}` : "";
  return { name, result: true, comment, changes: packages };
}

/**
 * The packages that are missing.
 * @returns A result if there are none, or after an error.
 */
async function downloadTargets(
  { name, pkgs, ignore_epoch }: DownloadedArguments,
  kwargs: ValueMap,
  context: StateContext,
): Promise<Map<string, string | null> | StateResult> {
  const downloaded = asInstalled(await context.call("pkg.list_downloaded", [], keywords({}, kwargs)));
  const wanted = await wantedPackages(pkgs, true, context);
  const unknown = await unknownPackages(name, wanted, kwargs, context);
  if (unknown !== undefined) return unknown;
  const targets = new Map<string, string | null>();
  const problems: string[] = [];
  let comparedVersions = false;
  for (const [one, version] of wanted) {
    const versions = downloaded.get(one) ?? [];
    if (versions.length === 0) targets.set(one, version);
    else if (version) {
      comparedVersions = true;
      try {
        if (!await fulfillsConditions(versions, version, { ignoreEpoch: ignore_epoch }, context)) {
          targets.set(one, version);
        }
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        problems.push(error.message);
      }
    }
  }
  if (problems.length > 0) return failState(name, problems.join(" "));
  if (targets.size > 0) return targets;
  const matching = comparedVersions ? " (matching specified versions)" : "";
  return { ...startResult(name), comment: `All specified packages${matching} are already downloaded` };
}

/** The arguments of the states of patches, as they are given. */
export interface PatchArguments {
  readonly name: string;
  readonly advisory_ids: Value;
  /** Whether they are only downloaded. */
  readonly downloadonly: boolean | null;
}

/**
 * Runs `pkg.patch_installed` or `pkg.patch_downloaded`.
 * @param state Which of them.
 */
export async function runPatches(
  state: "patch_installed" | "patch_downloaded",
  { name, advisory_ids, downloadonly }: PatchArguments,
  context: StateContext,
  more: ValueMap,
): Promise<StateResult> {
  if (!await hasFunction("pkg.list_patches", context)) {
    return failState(name, `The pkg.${state} state is not available on this platform`);
  }
  if (Array.isArray(advisory_ids) && advisory_ids.length === 0) {
    return { ...startResult(name), comment: "No advisory ids provided" };
  }
  const kwargs = new Map(more);
  if (state === "patch_downloaded") kwargs.delete("downloadonly");
  const patches = await context.call("pkg.list_installed_patches", [], keywords({}, kwargs));
  const isInstalled = (id: string) => isMap(patches) && truthy(patches.get(id));
  const isList = truthy(advisory_ids);
  const ids = Array.isArray(advisory_ids) && isList ? advisory_ids.map(str) : [isList ? str(advisory_ids) : name];
  if (!isList && isInstalled(name)) {
    return { ...startResult(name), comment: `Advisory patch ${name} is already installed` };
  }
  const targets = ids.filter((id) => !isInstalled(id));
  if (targets.length === 0) {
    return { ...startResult(name), comment: "All specified advisory patches are already installed" };
  }
  if (context.test) {
    const comment = `The following advisory patches would be downloaded: ${targets.join(", ")}`;
    return { ...startResult(name, null), comment };
  }
  try {
    const own = keywords({ name, advisory_ids, downloadonly }, kwargs);
    const changes = await context.call("pkg.install", [], own);
    const patches = mapOrEmpty(changes);
    const done = downloadonly ? "downloaded" : "installed";
    const comment = patches.size === 0 ? `Advisory patch is not needed or related packages are already ${done}` : "";
    return { name, result: true, comment, changes: patches };
  } catch (error) {
    return failedChange(name, FAILED, error);
  }
}
