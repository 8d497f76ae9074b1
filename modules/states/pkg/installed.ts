/**
 * `pkg.installed`: installs what is missing, and tells what the package manager made of it.
 * Source: Salt 3008.3 `salt/states/pkg.py`.
 * @module
 */

import { failedChange, hasFunction, keywords } from "#modules/states/_execution.ts";
import { type HoldAnswers, setHolds } from "./hold_answers.ts";
import { plannedInstallation, shownFiles } from "./install_plan.ts";
import {
  findInstallTargets,
  type InstallRequest,
  type InstallTargets,
  isTargets,
  verifyKeywords,
} from "./install_targets.ts";
import { capabilities, listInstalledVersions, resolveCapabilities, verifiedPackages } from "./lookup.ts";
import { saltenvOf } from "#modules/states/_saltenv.ts";
import { shownPackage } from "./versions.ts";
import { parsePackageList } from "#lib/host/packages/package_targets.ts";
import { wantsRefresh } from "#lib/host/packages/refresh_tag.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { failState, startResult, type StateResult } from "#lib/plugins/state_module.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The arguments of `pkg.installed`, as they are given. */
export interface InstalledArguments {
  readonly name: string;
  readonly version: Value;
  readonly refresh: Value;
  readonly fromrepo: Value;
  readonly skip_verify: boolean;
  readonly skip_suggestions: boolean;
  readonly pkgs: Value;
  readonly sources: Value;
  readonly allow_updates: boolean;
  readonly pkg_verify: Value;
  readonly normalize: boolean;
  readonly ignore_epoch: boolean | null;
  readonly reinstall: boolean;
  readonly update_holds: boolean;
}

/** Below this many characters the names of what was installed are listed. */
const LISTED_CHARACTERS = 20;
/** Up to this number, packages that were installed already are listed. */
const LISTED_PACKAGES = 20;

/**
 * Runs the state.
 * @param more Keywords for the package manager.
 */
export async function runInstalled(
  args: InstalledArguments,
  more: ValueMap,
  context: StateContext,
): Promise<StateResult> {
  const { name } = args;
  if (Array.isArray(args.pkgs) && args.pkgs.length === 0) {
    return { ...startResult(name), comment: "No packages to install provided" };
  }
  const hasList = truthy(args.pkgs) || truthy(args.sources);
  const kwargs = new Map(more).set("saltenv", saltenvOf(context));
  let pkgs: Value = hasList ? args.pkgs : [truthy(args.version) ? new Map([[name, args.version]]) : name];
  let refresh = wantsRefresh(args.refresh, context.opts);
  if (truthy(pkgs)) [pkgs, refresh] = await resolveCapabilities(pkgs, refresh, kwargs, context);
  const verify: Value = Array.isArray(args.pkg_verify) ? args.pkg_verify : args.pkg_verify === true;
  if (verify !== false && !await hasFunction("pkg.verify", context)) {
    return failState(name, "pkg.verify not implemented");
  }
  kwargs.set("allow_updates", args.allow_updates);
  const request: InstallRequest = {
    name,
    pkgs,
    sources: args.sources,
    skipSuggestions: args.skip_suggestions,
    verify,
    normalize: args.normalize,
    ignoreEpoch: args.ignore_epoch,
    reinstall: args.reinstall,
    refresh,
    allowUpdates: args.allow_updates,
    kwargs: keywords({ fromrepo: args.fromrepo, split_arch: false }, kwargs),
  };
  const found = await findInstallTargets(request, context);
  if (!isTargets(found)) return await holdOnly(found, request, { kwargs, context });
  const installation = new Installation(args, { request, found, kwargs, context });
  const result = await installation.run();
  return found.warnings.length > 0 ? { ...result, warnings: [...found.warnings] } : result;
}

/** Holds packages although nothing is to be installed, if the state says so. */
async function holdOnly(
  result: StateResult,
  { name, pkgs, sources }: InstallRequest,
  { kwargs, context }: { readonly kwargs: ValueMap; readonly context: StateContext },
): Promise<StateResult> {
  const answers = await setHolds(kwargs, keywords({ name, pkgs, sources }), context);
  if ("problem" in answers) return failState(name, answers.problem);
  const { modified, unmodified, failed: refused } = answers;
  const all = [...modified, ...unmodified, ...refused];
  const changes = new Map(result.changes);
  for (const one of modified) changes.set(one.name, one.changes);
  const last = all.at(-1);
  return {
    ...result,
    comment: [result.comment, ...all.map(({ comment }) => comment)].join(".\n"),
    result: last === undefined ? result.result : last.result,
    changes,
  };
}

/** One run of the package manager, and its report. */
class Installation {
  readonly #args: InstalledArguments;
  readonly #request: InstallRequest;
  readonly #found: InstallTargets;
  readonly #kwargs: ValueMap;
  readonly #context: StateContext;
  readonly #isSources: boolean;
  readonly #comments: string[] = [];
  readonly #changes: ValueMap = new Map();

  constructor(args: InstalledArguments, { request, found, kwargs, context }: {
    readonly request: InstallRequest;
    readonly found: InstallTargets;
    readonly kwargs: ValueMap;
    readonly context: StateContext;
  }) {
    this.#args = args;
    this.#request = request;
    this.#found = found;
    this.#kwargs = kwargs;
    this.#context = context;
    this.#isSources = !truthy(request.pkgs);
  }

  async run(): Promise<StateResult> {
    const { name } = this.#args;
    const { targets, unpurge, reinstall, desired } = this.#found;
    if (unpurge.length > 0 && !await hasFunction("lowpkg.unpurge", this.#context)) {
      return failState(name, "lowpkg.unpurge not implemented");
    }
    if (this.#context.test) {
      return await plannedInstallation(name, { found: this.#found, isSources: this.#isSources }, {
        reinstalls: this.#args.reinstall,
        context: this.#context,
      });
    }
    let reported: ValueMap = new Map();
    if (targets.size > 0 || reinstall.size > 0) {
      try {
        reported = await this.#install();
      } catch (error) {
        return failedChange(name, "An error was encountered while installing package(s)", error);
      }
    }
    const holds = await setHolds(this.#kwargs, keywords({ name, pkgs: [...desired.keys()] }), this.#context);
    if ("problem" in holds) {
      return holds.isError
        ? failState(name, [...this.#comments, holds.problem].join("\n"), this.#changes)
        : failState(name, holds.problem);
    }
    if (unpurge.length > 0) {
      this.#changes.set("purge_desired", await this.#context.call("lowpkg.unpurge", [...unpurge]));
    }
    const isInstalled = await this.#reportInstalled(holds);
    const isReinstalled = await this.#reportReinstalled(reported);
    return {
      name,
      result: isInstalled && isReinstalled,
      comment: this.#comments.join("\n"),
      changes: this.#changes,
    };
  }

  #shown(name: string, packages = this.#found.desired): string {
    return this.#isSources ? name : shownPackage(name, packages);
  }

  /**
   * Installs the targets.
   * @returns The changes that the package manager reports.
   */
  async #install(): Promise<ValueMap> {
    const { targets, reinstall } = this.#found;
    const { refresh, sources } = this.#request;
    const { fromrepo, skip_verify, normalize, update_holds, ignore_epoch } = this.#args;
    const wanted = [...targets, ...reinstall];
    const chosenSources = (names: ReadonlyMap<string, unknown>) =>
      (parsePackageList(sources) ?? []).filter((source) =>
        isMap(source) && [...source.keys()].some((one) => names.has(str(one)))
      );
    const own = {
      refresh: refresh && !this.#found.refreshed,
      fromrepo,
      skip_verify,
      pkgs: this.#isSources ? null : wanted.map((entry) => new Map([entry])),
      sources: this.#isSources ? [...chosenSources(targets), ...chosenSources(reinstall)] : null,
      reinstall: reinstall.size > 0,
      normalize,
      update_holds,
      ignore_epoch,
      split_arch: false,
    };
    const reported = await this.#context.call("pkg.install", [], keywords(own, this.#kwargs));
    if (!isMap(reported)) {
      if (typeof reported === "string") this.#comments.push(reported);
      return new Map();
    }
    for (const [name, change] of reported) this.#changes.set(name, change);
    return reported;
  }

  /**
   * Reports the packages to install.
   * @returns Whether all are installed.
   */
  async #reportInstalled({ modified: held, unmodified: heldBefore, failed: unheld }: HoldAnswers): Promise<boolean> {
    const { targets, reinstall } = this.#found;
    const { there, missing } = this.#isSources ? this.#reportedSources() : await this.#installedTargets();
    const modified = there.filter((name) => targets.has(name));
    const unmodified = there.filter((name) => !targets.has(name) && !reinstall.has(name));
    this.#reportModified(modified);
    for (const { name, comment, changes } of held) {
      this.#comments.push(comment);
      this.#addHold(name, changes);
    }
    this.#reportUnmodified(unmodified);
    for (const { comment } of heldBefore) this.#comments.push(comment);
    if (missing.length > 0) {
      const names = missing.map((name) => this.#shown(name)).join(", ");
      this.#comments.unshift(`The following packages failed to install/update: ${names}`);
    }
    for (const { comment } of unheld) this.#comments.push(comment);
    return missing.length === 0 && unheld.length === 0;
  }

  /** Of packages from files: the installed ones, and those that should have changed. */
  #reportedSources(): { readonly there: string[]; readonly missing: string[] } {
    const { desired, targets } = this.#found;
    const changed = [...this.#changes.keys()].map(str).filter((name) => targets.has(name));
    return {
      there: [...changed, ...[...desired.keys()].filter((name) => !targets.has(name))],
      missing: [...targets.keys()].filter((name) => !this.#changes.has(name)),
    };
  }

  /** The packages that are installed in their version now, and the targets that are not. */
  async #installedTargets(): Promise<{ readonly there: string[]; readonly missing: string[] }> {
    const { desired, targets } = this.#found;
    const { ok, failed: missing } = await verifiedPackages(desired, {
      installed: await listInstalledVersions(this.#context, this.#kwargs),
      provided: await capabilities(this.#context, this.#kwargs),
      ignoreEpoch: this.#args.ignore_epoch,
    }, this.#context);
    return { there: ok, missing: missing.filter((name) => targets.has(name)) };
  }

  #reportModified(names: readonly string[]): void {
    if (names.length === 0) return;
    const summary = names.map((name) => this.#shown(name)).join(", ");
    this.#comments.push(
      summary.length < LISTED_CHARACTERS
        ? `The following packages were installed/updated: ${summary}`
        : `${names.length} targeted package${names.length > 1 ? "s were" : " was"} installed/updated.`,
    );
  }

  #reportUnmodified(names: readonly string[]): void {
    if (names.length === 0) return;
    this.#comments.push(
      names.length <= LISTED_PACKAGES
        ? `The following packages were already installed: ${names.map((name) => this.#shown(name)).join(", ")}`
        : `${names.length} targeted packages were already installed`,
    );
  }

  /** Adds a hold to a package's changes. */
  #addHold(name: string, hold: ValueMap): void {
    const change = this.#changes.get(name);
    const now = str(hold.get("new") ?? "");
    if (!isMap(change)) return void this.#changes.set(name, map({ new: now }));
    const joinTexts = (before: Value | undefined, more: string) => [str(before ?? ""), more].filter(Boolean).join("\n");
    change.set("new", joinTexts(change.get("new"), now));
    change.set("old", joinTexts(change.get("old"), str(hold.get("old") ?? "")));
  }

  /**
   * Reports the packages that were installed again.
   * @returns Whether all were.
   */
  async #reportReinstalled(reported: ValueMap): Promise<boolean> {
    const { reinstall, altered } = this.#found;
    const [done, missed]: [string[], string[]] = [[], []];
    for (const name of reinstall.keys()) {
      let isDone = reported.has(name);
      if (!this.#args.reinstall) {
        const kwargs = verifyKeywords(this.#request.verify, this.#kwargs);
        const left = await this.#context.call("pkg.verify", [name], kwargs);
        isDone = !truthy(left);
        if (!isDone) altered.set(name, left);
      }
      (isDone ? done : missed).push(name);
    }
    const report = (name: string, text: string, files: string) => {
      const alteredFiles = altered.get(name);
      this.#comments.push(alteredFiles === undefined ? text : `${text} ${files}`);
      if (alteredFiles !== undefined) this.#comments.push(shownFiles(alteredFiles, this.#context));
    };
    for (const name of done) {
      report(name, `Package ${this.#shown(name)} was reinstalled.`, "The following files were remediated:");
    }
    for (const name of missed) {
      const text = `Reinstall was not successful for package ${this.#shown(name)}.`;
      report(name, text, "The following files could not be remediated:");
    }
    return missed.length === 0;
  }
}
