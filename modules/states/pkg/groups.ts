/**
 * `pkg.group_installed`: a group of packages, as its distribution defines it.
 * Source: Salt 3008.3 `salt/states/pkg.py`.
 * @module
 */

import { failedChange, hasFunction, keywords } from "#modules/states/_execution.ts";
import { CommandError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { failState, startResult, type StateResult } from "#lib/plugins/state_module.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The packages of a group. */
interface GroupPart {
  readonly installed: string[];
  readonly missing: string[];
}

function parsePart(diff: Value, part: string): GroupPart {
  const fields = isMap(diff) ? diff.get(part) : undefined;
  const names = (key: string): string[] => {
    return listOrEmpty(isMap(fields) ? fields.get(key) : undefined).map(str);
  };
  return { installed: names("installed"), missing: names("not installed") };
}

/**
 * Runs the state.
 * @param kwargs Keywords for the package manager.
 */
export async function runGroupInstalled(
  args: { readonly name: string; readonly skip: Value; readonly include: Value },
  kwargs: ValueMap,
  context: StateContext,
): Promise<StateResult> {
  const { name } = args;
  if (!await hasFunction("pkg.group_diff", context)) {
    return failState(name, "pkg.group_install not available for this platform");
  }
  for (const [key, list] of Object.entries({ skip: args.skip, include: args.include })) {
    if (list !== null && !Array.isArray(list)) return failState(name, `${key} must be formatted as a list`);
  }
  const skip = Array.isArray(args.skip) ? args.skip.map(str) : [];
  const include = Array.isArray(args.include) ? args.include.map(str) : [];
  let diff: Value;
  try {
    diff = await context.call("pkg.group_diff", [name], keywords({}, ownKeywords(kwargs)));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return failState(name, `An error was encountered while installing/updating group '${name}': ${error.message}.`);
  }
  const [mandatory, usual, optional] = ["mandatory", "default", "optional"].map((part) => parsePart(diff, part));
  const refused = [...mandatory.installed, ...mandatory.missing].filter((one) => skip.includes(one));
  if (refused.length > 0) {
    return failState(name, `The following mandatory packages cannot be skipped: ${refused.join(", ")}`);
  }
  const targets = [...mandatory.missing, ...usual.missing.filter((one) => !skip.includes(one)), ...include];
  if (targets.length === 0) return { ...startResult(name), comment: `Group '${name}' is already installed` };
  const isPartial = [mandatory, usual, optional].some(({ installed }) => installed.length > 0);
  if (context.test) {
    const planned = isPartial ? "is partially installed and will be updated" : "will be installed";
    return { ...startResult(name, null), comment: `Group '${name}' ${planned}` };
  }
  let changes: ValueMap;
  try {
    const answer = await context.call("pkg.install", [], keywords({ pkgs: targets }, kwargs));
    changes = mapOrEmpty(answer);
  } catch (error) {
    return failedChange(name, `An error was encountered while installing/updating group '${name}'`, error);
  }
  // Default packages of a group may be missing from the repositories; the package managers skip them too.
  const installed = await context.call("pkg.list_pkgs", [], keywords({}, kwargs));
  const missing = [...mandatory.missing, ...include].filter((one) => !isMap(installed) || !installed.has(one));
  if (missing.length > 0) {
    return failState(name, `Failed to install the following packages: ${missing.join(", ")}`, changes);
  }
  return { name, result: true, comment: `Group '${name}' was ${isPartial ? "updated" : "installed"}`, changes };
}
