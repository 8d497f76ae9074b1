/**
 * Targets of top files: whether a target, of the type that its `match` names, matches a minion. An invalid target
 * matches no minion, which is logged. Source: Salt 3008.3 `salt/matchers/confirm_top.py` and the matchers that it
 * calls.
 * @module
 */

import { TargetError } from "#lib/errors.ts";
import { isTargetType, matchesTarget, type TargetSubject } from "./target.ts";
import { isMap, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The other data for matching. */
export interface TopMatchContext {
  readonly nodegroups: ValueMap;
  readonly log: (level: "error" | "mistake" | "debug", message: string) => void;
  /** Whether the minion's own data store has a value (`match: data`). Default: it has none. */
  readonly data?: (tgt: string) => boolean;
}

/**
 * The type that the items of a target name by `match`; the last one counts. Default: `compound`, which takes globs too.
 */
export function topMatchType(items: readonly Value[]): string {
  let type = "compound";
  for (const item of items) if (isMap(item) && item.has("match")) type = str(item.get("match") ?? null);
  return type;
}

/** Whether Salt has a matcher of that name for top files. */
export function isTopMatchType(type: string): boolean {
  return type === "data" || isTargetType(type);
}

/**
 * Whether `tgt` matches the minion.
 * @throws {TargetError} For a type that Salt does not know either.
 */
export function matchesTop(
  tgt: Value,
  type: string,
  subject: TargetSubject,
  { nodegroups, log, data }: TopMatchContext,
): boolean {
  if (type === "data") return data?.(str(tgt)) ?? false;
  if (type === "nodegroup" && (typeof tgt !== "string" || !nodegroups.has(tgt))) return false;
  if (type === "compound" && typeof tgt !== "string") {
    log("error", "Compound target received that is neither string, list nor tuple");
    return false;
  }
  if (!isTargetType(type)) throw new TargetError(`There is no matcher ${repr(type)} for top files`, type);
  try {
    return matchesTarget({ tgt, tgtType: type }, subject, { nodegroups });
  } catch (error) {
    if (!(error instanceof TargetError)) throw error;
    // In the words of `state.lint`: what its result shows is not logged on the same terminal.
    log("mistake", `The target ${repr(tgt)} of the top file matches no minion: ${error.message}`);
    return false;
  }
}
