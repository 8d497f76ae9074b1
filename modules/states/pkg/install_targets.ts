/**
 * Which packages `pkg.installed` has to install, to install again, or to mark as wanted.
 * Source: Salt 3008.3 `salt/states/pkg.py`.
 * @module
 */

import { hasFunction, keywords } from "#modules/states/_execution.ts";
import {
  capabilities,
  type InstalledVersions,
  listInstalledVersions,
  normalizePackageName,
  unknownPackages,
  versionsOf,
  wantedPackages,
  wantedSources,
} from "./lookup.ts";
import { saltenvOf } from "#modules/states/_saltenv.ts";
import { fulfillsConditions, type WantedPackages, wantsExactly } from "./versions.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { lexists } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { failState, startResult, type StateResult } from "#lib/plugins/state_module.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The request of `pkg.installed`. */
export interface InstallRequest {
  readonly name: string;
  readonly pkgs: Value;
  readonly sources: Value;
  readonly skipSuggestions: boolean;
  /** Whether the files of installed packages are checked, or a list of what is checked. */
  readonly verify: Value;
  readonly normalize: boolean;
  readonly ignoreEpoch: boolean | null;
  readonly reinstall: boolean;
  readonly refresh: boolean;
  readonly allowUpdates: boolean;
  /** Keywords for the functions of the package manager. */
  readonly kwargs: ValueMap;
}

/** The needed work. */
export interface InstallTargets {
  /** All requested packages; the values of sources are files. */
  readonly desired: WantedPackages;
  readonly targets: Map<string, string | null>;
  /** Packages that are marked to be purged. */
  readonly unpurge: readonly string[];
  readonly reinstall: Map<string, string | null>;
  /** The findings of `pkg.verify` for packages that are installed again. */
  readonly altered: Map<string, Value>;
  readonly warnings: readonly string[];
  /** Whether the package lists have been updated already. */
  readonly refreshed: boolean;
}

/** Keywords of `pkg.verify`. */
export function verifyKeywords(verify: Value, kwargs: ValueMap): ValueMap {
  const option = (key: string): Value => {
    const entries = Array.isArray(verify) ? verify.filter(isMap) : [];
    return entries.find((entry) => entry.has(key) && entry.get(key) !== null)?.get(key) ?? [];
  };
  return keywords({ ignore_types: option("ignore_types"), verify_options: option("verify_options") }, kwargs);
}

/**
 * Finds them.
 * @returns A result if nothing has to be done, or after an error.
 */
export async function findInstallTargets(
  request: InstallRequest,
  context: StateContext,
): Promise<InstallTargets | StateResult> {
  const { name, pkgs, sources, kwargs } = request;
  if (truthy(pkgs) && truthy(sources)) return failState(name, 'Only one of "pkgs" and "sources" is permitted.');
  let installed: InstalledVersions;
  let provided: InstalledVersions;
  try {
    installed = await listInstalledVersions(context, kwargs);
    provided = await capabilities(context, kwargs);
  } catch (error) {
    if (error instanceof CommandError) return failState(name, error.message);
    throw error;
  }
  const isSources = truthy(sources);
  const desired: Map<string, string | null> = isSources
    ? await wantedSources(sources, request.normalize, context)
    : await wantedPackages(pkgs, request.normalize && truthy(kwargs.get("split_arch") ?? true), context);
  if (desired.size === 0) {
    return failState(name, `Invalidly formatted '${isSources ? "sources" : "pkgs"}' parameter. See minion log.`);
  }
  const purged = await context.call("pkg.list_pkgs", [], keywords({ purge_desired: true }, kwargs));
  const unpurge = [...desired.keys()].filter((one) => isMap(purged) && purged.has(one));
  const search = new TargetSearch({ installed, provided, isSources, request, context });
  let refreshed = false;
  if (!isSources) {
    const unknown = request.skipSuggestions ? undefined : await search.unknown(desired);
    if (unknown !== undefined) return unknown;
    refreshed = await search.resolveLatest(desired);
  }
  for (const [one, version] of desired) await search.examine(one, version);
  const { targets, reinstall, altered, warnings } = search;
  const problems = [...search.problems, ...search.failedVerify === undefined ? [] : [search.failedVerify]];
  if (problems.length > 0) return failState(name, problems.join(" "));
  if (targets.size > 0 || unpurge.length > 0 || reinstall.size > 0) {
    return { desired, targets, unpurge, reinstall, altered, warnings, refreshed };
  }
  const versions = search.comparedVersions && !isSources ? " and are at the desired version" : "";
  return {
    ...startResult(name),
    comment: `All specified packages are already installed${versions}`,
    ...warnings.length > 0 && { warnings },
  };
}

/** Whether {@linkcode findInstallTargets} found something to do. */
export function isTargets(value: InstallTargets | StateResult): value is InstallTargets {
  return "desired" in value;
}

/** Checks the packages one by one. */
class TargetSearch {
  readonly targets = new Map<string, string | null>();
  readonly reinstall = new Map<string, string | null>();
  readonly altered = new Map<string, Value>();
  readonly problems: string[] = [];
  readonly warnings: string[] = [];
  failedVerify?: string;
  /** Whether a version was compared. */
  comparedVersions = false;
  readonly #installed: InstalledVersions;
  readonly #provided: InstalledVersions;
  readonly #isSources: boolean;
  readonly #request: InstallRequest;
  readonly #context: StateContext;

  constructor({ installed, provided, isSources, request, context }: {
    readonly installed: InstalledVersions;
    readonly provided: InstalledVersions;
    readonly isSources: boolean;
    readonly request: InstallRequest;
    readonly context: StateContext;
  }) {
    this.#installed = installed;
    this.#provided = provided;
    this.#isSources = isSources;
    this.#request = request;
    this.#context = context;
  }

  /** The failure for names that are neither installed nor known to the package manager. */
  async unknown(desired: WantedPackages): Promise<StateResult | undefined> {
    const { name, kwargs, ignoreEpoch } = this.#request;
    const missing = new Map<string, string | null>();
    for (const [one, version] of desired) {
      const versions = this.#installed.get(one);
      const isThere = versions !== undefined &&
        (version === null || await fulfillsConditions(versions, version, { ignoreEpoch }, this.#context));
      if (!isThere) missing.set(one, version);
    }
    return missing.size === 0 ? undefined : await unknownPackages(name, missing, kwargs, this.#context);
  }

  /**
   * Replaces `latest` by versions.
   * @returns Whether the package lists have been updated.
   */
  async resolveLatest(desired: Map<string, string | null>): Promise<boolean> {
    const { refresh, kwargs } = this.#request;
    const names = [...desired].filter(([, version]) => version === "latest").map(([name]) => name);
    if (names.length === 0) return false;
    const answer = await this.#context.call("pkg.latest_version", names, keywords({ refresh }, kwargs));
    const versions: ValueMap = names.length === 1 ? new Map([[names[0], answer]]) : mapOrEmpty(answer);
    for (const [name, version] of versions) {
      // An empty string: the newest is installed, or there is none.
      const installed = this.#installed.get(str(name))?.at(-1) ?? null;
      desired.set(str(name), truthy(version) ? str(version) : installed);
    }
    return refresh;
  }

  /**
   * Adds a package to the needed work.
   * @param version The wanted version, or the file of a source.
   */
  async examine(name: string, version: string | null): Promise<void> {
    const versions = await this.#versionsOf(name);
    if (versions === undefined) return void this.targets.set(name, version);
    if (this.#request.reinstall) return void this.reinstall.set(name, version);
    let wanted: string | null | undefined = version;
    if (this.#isSources) {
      if (!await hasFunction("lowpkg.bin_pkg_info", this.#context)) return;
      wanted = await this.#fileVersion(version ?? "");
      if (wanted === undefined) return;
    } else if (wanted === null) {
      if (truthy(this.#request.verify)) await this.#verify(name, version);
      return;
    }
    let isFulfilled: boolean;
    try {
      const { ignoreEpoch, allowUpdates } = this.#request;
      const options = { ignoreEpoch, allowUpdates: allowUpdates && !this.#isSources };
      isFulfilled = await fulfillsConditions(versions, wanted, options, this.#context);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      this.problems.push(error.message);
      return;
    }
    this.comparedVersions = true;
    if (isFulfilled) return;
    if (truthy(this.#request.verify) && wantsExactly(version ?? "")) await this.#verify(name, version);
    else this.targets.set(name, version);
  }

  async #versionsOf(name: string): Promise<readonly string[] | undefined> {
    const own = versionsOf(name, this.#installed) ??
      versionsOf(await normalizePackageName(name, this.#context), this.#installed);
    return own ?? versionsOf(this.#provided.get(name)?.[0] ?? "", this.#installed);
  }

  /** Checks whether files of a package have been changed. */
  async #verify(name: string, version: string | null): Promise<void> {
    const { verify, kwargs } = this.#request;
    try {
      const altered = await this.#context.call("pkg.verify", [name], verifyKeywords(verify, kwargs));
      if (!truthy(altered)) return;
      this.reinstall.set(name, version);
      this.altered.set(name, altered);
    } catch (error) {
      if (!(error instanceof CommandError || error instanceof InvocationError)) throw error;
      this.failedVerify = error.message;
    }
  }

  /** The version of a package's file; `undefined`, with the reason noted, if it is not known. */
  async #fileVersion(file: string): Promise<string | undefined> {
    const context = this.#context;
    const verify_ssl = this.#request.kwargs.get("verify_ssl") ?? true;
    let cached: Value;
    try {
      cached = await context.call("cp.cache_file", [file], keywords({ saltenv: saltenvOf(context), verify_ssl }));
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      this.problems.push(`Unable to cache ${file}: ${error.message}`);
      return undefined;
    }
    if (!truthy(cached)) this.problems.push(`Unable to cache ${file}: file not found`);
    else if (!lexists(str(cached))) this.problems.push(`${file} does not exist on minion`);
    else {
      const info = await context.call("lowpkg.bin_pkg_info", [str(cached)]);
      if (isMap(info)) return str(info.get("version") ?? null);
      this.warnings.push(`Failed to parse metadata for ${file}`);
    }
    return undefined;
  }
}
