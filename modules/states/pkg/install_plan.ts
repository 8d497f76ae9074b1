/**
 * What `pkg.installed` says in test mode.
 * Source: Salt 3008.3 `salt/states/pkg.py`.
 * @module
 */

import type { InstallTargets } from "./install_targets.ts";
import { installableChanges } from "./lookup.ts";
import { shownPackage, type WantedPackages } from "./versions.ts";
import { formatNested } from "#lib/output/nested.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import type { StateResult } from "#lib/plugins/state_module.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** The findings of `pkg.verify`, as comments show them. */
export function shownFiles(altered: Value, { opts }: StateContext): string {
  return formatNested(altered, { color: opts.color }).trimEnd();
}

/**
 * Reports what would be installed, with the old and new versions.
 * @param plan.isSources Whether the packages are files.
 * @param how.reinstalls Whether all of them are installed again.
 */
export async function plannedInstallation(
  name: string,
  { found, isSources }: { readonly found: InstallTargets; readonly isSources: boolean },
  { reinstalls, context }: { readonly reinstalls: boolean; readonly context: StateContext },
): Promise<StateResult> {
  const { targets, unpurge, reinstall, altered } = found;
  const shownName = (one: string, packages: WantedPackages) => isSources ? one : shownPackage(one, packages);
  const isNew = map({ new: "installed", old: "" });
  const changes: ValueMap = new Map();
  const comments: string[] = [];
  if (targets.size > 0) {
    const installable = isSources
      ? new Map([...targets.keys()].map((one) => [one, isNew]))
      : await installableChanges(targets, context);
    for (const [one, change] of installable) changes.set(one, change);
    comments.push(`The following packages would be installed/updated: ${[...targets.keys()].join(", ")}`);
  }
  if (unpurge.length > 0) {
    const packages = unpurge.join(", ");
    comments.push(
      `The following packages would have their selection status changed from 'purge' to 'install': ${packages}`,
    );
    for (const one of unpurge) changes.set(one, isNew);
  }
  if (reinstall.size > 0 && reinstalls) {
    const names = [...reinstall.keys()].map((one) => shownName(one, reinstall));
    for (const one of names) changes.set(one, isNew);
    comments.push(`The following packages would be reinstalled: ${names.join(", ")}`);
  } else {
    for (const one of reinstall.keys()) {
      const line = `Package '${shownName(one, reinstall)}' would be reinstalled`;
      comments.push(`${line} because the following files have been altered:`);
      changes.set(one, new Map());
      comments.push(shownFiles(altered.get(one) ?? null, context));
    }
  }
  return { name, result: null, comment: comments.join("\n"), changes };
}
