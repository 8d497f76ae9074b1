/**
 * `pkg.latest`: brings packages to the newest version that the repositories have.
 * Source: Salt 3008.3 `salt/states/pkg.py`.
 * @module
 */

import { keywords } from "#modules/states/_execution.ts";
import { installableChanges, resolveCapabilities, wantedPackages } from "./lookup.ts";
import { saltenvOf } from "#modules/states/_saltenv.ts";
import { CommandError } from "#lib/errors.ts";
import { wantsRefresh } from "#lib/host/packages/refresh_tag.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { failState, startResult, type StateResult } from "#lib/plugins/state_module.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { compareStrings, isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The arguments of `pkg.latest`, as they are given. */
export interface LatestArguments {
  readonly name: string;
  readonly refresh: Value;
  readonly fromrepo: Value;
  readonly skip_verify: boolean;
  readonly pkgs: Value;
}

/** Up to this number, packages are listed. */
const LISTED = 10;

/**
 * Runs the state.
 * @param more Keywords for the package manager.
 */
export async function runLatest(args: LatestArguments, more: ValueMap, context: StateContext): Promise<StateResult> {
  const { name, fromrepo, pkgs } = args;
  if (truthy(more.get("sources"))) return failState(name, 'The "sources" parameter is not supported.');
  let names: Value = [name];
  if (truthy(pkgs)) {
    names = [...(await wantedPackages(pkgs, true, context)).keys()];
  } else if (Array.isArray(pkgs)) return { ...startResult(name), comment: "No packages to install provided" };
  const kwargs = new Map(more).set("saltenv", saltenvOf(context));
  let refresh = wantsRefresh(args.refresh, context.opts);
  [names, refresh] = await resolveCapabilities(names, refresh, kwargs, context);
  const wanted = listOrEmpty(names).map(str);
  let available: Value;
  try {
    available = await context.call("pkg.latest_version", wanted, keywords({ fromrepo, refresh }, kwargs));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const summary = "An error was encountered while checking the newest available version of package(s)";
    return failState(name, `${summary}: ${error.message}`);
  }
  let installed: Value;
  try {
    installed = await context.call("pkg.version", wanted, keywords({}, kwargs));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return failState(name, error.message);
  }
  const current = asVersions(installed, wanted);
  const newest = asVersions(available, wanted);
  const targets = new Map<string, string>();
  const problems: string[] = [];
  for (const one of wanted) {
    const version = newest.get(one);
    if (truthy(version)) targets.set(one, str(version ?? ""));
    else if (!truthy(current.get(one))) {
      problems.push(`No information found for '${one}'.`);
      context.log("error", `No information found for '${one}'.`);
    }
  }
  if (problems.length > 0) return failState(name, problems.join(" "));
  if (targets.size === 0) return { ...startResult(name), comment: allCurrent(wanted) };
  const upToDate = (truthy(pkgs) && Array.isArray(pkgs) ? pkgs : []).map(str).filter((one) => !targets.has(one));
  return context.test
    ? await planResult(name, { targets, upToDate, current }, context)
    : await upgrade(args, { targets, upToDate, kwargs }, context);
}

/** The results of a function for one package, or for several, by name. */
function asVersions(versions: Value, names: readonly string[]): ValueMap {
  return isMap(versions) ? versions : new Map([[names[0] ?? "", versions]]);
}

function joinSorted(names: Iterable<string>): string {
  return [...names].sort(compareStrings).join(", ");
}

function allCurrent(names: readonly string[]): string {
  if (names.length > LISTED) return `All ${names.length} packages are up-to-date.`;
  return names.length > 1
    ? `All packages are up-to-date (${joinSorted(names)}).`
    : `Package ${names[0]} is already up-to-date`;
}

/** The packages to upgrade, and those that are up to date. */
interface Upgrade {
  readonly targets: ReadonlyMap<string, string>;
  readonly upToDate: readonly string[];
}

async function planResult(
  name: string,
  { targets, upToDate, current }: Upgrade & { readonly current: ValueMap },
  context: StateContext,
): Promise<StateResult> {
  const comments = [`The following packages would be installed/upgraded: ${joinSorted(targets.keys())}`];
  if (upToDate.length > LISTED) comments.push(`${upToDate.length} packages are already up-to-date`);
  else if (upToDate.length > 0) {
    const shown = [...upToDate].sort(compareStrings).map((one) => `${one} (${str(current.get(one) ?? null)})`);
    comments.push(`The following packages are already up-to-date: ${shown.join(", ")}`);
  }
  const changes = await installableChanges(targets, context, current);
  return { name, result: null, comment: comments.join("\n"), changes };
}

async function upgrade(
  { name, fromrepo, skip_verify }: LatestArguments,
  { targets, upToDate, kwargs }: Upgrade & { readonly kwargs: ValueMap },
  context: StateContext,
): Promise<StateResult> {
  let changes: Value;
  try {
    const own = { refresh: false, fromrepo, skip_verify, pkgs: [...targets.keys()] };
    changes = await context.call("pkg.install", [], keywords(own, kwargs));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return failState(name, `An error was encountered while installing package(s): ${error.message}`);
  }
  if (!isMap(changes) || changes.size === 0) return failState(name, noChanges(targets, upToDate));
  const answer = changes;
  const isDone = ([one, version]: [string, string]) => {
    const change = answer.get(one);
    if (!isMap(change) || change.size === 0) return false;
    const now = change.get("new") ?? null;
    return now === null || version === "latest" || str(now).split(",").includes(version);
  };
  const successful = [...targets].filter(isDone).map(([one]) => one);
  const unsuccessful = [...targets.keys()].filter((one) => !successful.includes(one));
  const comments: string[] = [];
  if (unsuccessful.length > 0) comments.push(`The following packages failed to update: ${joinSorted(unsuccessful)}`);
  if (successful.length > 0) {
    comments.push(`The following packages were successfully installed/upgraded: ${joinSorted(successful)}`);
  }
  if (upToDate.length > 0) {
    comments.push(
      upToDate.length <= LISTED
        ? `The following packages were already up-to-date: ${joinSorted(upToDate)}`
        : `${upToDate.length} packages were already up-to-date `,
    );
  }
  return { name, result: unsuccessful.length === 0, comment: comments.join(" "), changes: answer };
}

function noChanges(targets: ReadonlyMap<string, string>, upToDate: readonly string[]): string {
  const summary = targets.size > LISTED
    ? `${targets.size} targeted packages failed to update. See debug log for details.`
    : targets.size > 1
    ? `The following targeted packages failed to update. See debug log for details: (${joinSorted(targets.keys())}).`
    : `Package ${[...targets.keys()][0]} failed to update.`;
  if (upToDate.length === 0) return summary;
  return summary +
    (upToDate.length <= LISTED
      ? ` The following packages were already up-to-date: ${joinSorted(upToDate)}`
      : `${upToDate.length} packages were already up-to-date`);
}
