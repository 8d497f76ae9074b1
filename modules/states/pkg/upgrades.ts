/**
 * `pkg.uptodate`: the upgrade of a whole host, or of packages of it.
 * Source: Salt 3008.3 `salt/states/pkg.py`.
 * @module
 */

import { failedChange, hasFunction, keywords } from "#modules/states/_execution.ts";
import { resolveCapabilities } from "./lookup.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { failState, startResult, type StateResult } from "#lib/plugins/state_module.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/**
 * Runs the state.
 * @param kwargs Keywords for the package manager.
 */
export async function runUptodate(
  args: { readonly name: string; readonly refresh: Value; readonly pkgs: Value },
  kwargs: ValueMap,
  context: StateContext,
): Promise<StateResult> {
  const { name } = args;
  if (!await hasFunction("pkg.list_upgrades", context)) return failState(name, "State pkg.uptodate is not available");
  if (typeof args.refresh !== "boolean") return failState(name, "refresh must be either True or False");
  const [pkgs, refresh] = await resolveCapabilities(args.pkgs, args.refresh, kwargs, context);
  let expected: ValueMap;
  try {
    expected = await upgrades(refresh, pkgs, kwargs, context);
  } catch (error) {
    if (error instanceof CommandError || error instanceof InvocationError) return failState(name, error.message);
    throw error;
  }
  if (expected.size === 0) return { ...startResult(name), comment: "System is already up-to-date" };
  if (context.test) return { name, result: null, comment: "System update will be performed", changes: expected };
  let changes: ValueMap;
  try {
    const answer = await context.call("pkg.upgrade", [], keywords({ refresh, pkgs }, kwargs));
    changes = mapOrEmpty(answer);
  } catch (error) {
    return failedChange(name, "An error was encountered while updating packages", error);
  }
  const missing = Array.isArray(pkgs) ? [...expected.keys()].filter((one) => !changes.has(one)).map(str) : [];
  return missing.length > 0
    ? failState(name, `The following package(s) failed to update: ${missing.join(", ")}`, changes)
    : { name, result: true, comment: "Upgrade ran successfully", changes };
}

/** The packages that have newer versions, with both. */
async function upgrades(
  refresh: boolean,
  pkgs: Value,
  kwargs: ValueMap,
  context: StateContext,
): Promise<ValueMap> {
  const answer = await context.call("pkg.list_upgrades", [], keywords({ refresh }, kwargs));
  const expected: ValueMap = new Map();
  for (const [one, version] of isMap(answer) ? answer : []) {
    const old = await context.call("pkg.version", [one], keywords({}, kwargs));
    if (!Array.isArray(pkgs) || pkgs.includes(one)) expected.set(one, map({ new: version, old }));
  }
  return expected;
}
