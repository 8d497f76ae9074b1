/**
 * The mistakes in a top file: its form, matchers that nobody has, and targets that cannot be read.
 * @module
 */

import { TargetError } from "#lib/errors.ts";
import type { CompileError } from "#lib/states/compiler/compile_error.ts";
import type { ReadTop } from "#lib/states/compiler/top_files.ts";
import { verifyTop } from "#lib/states/compiler/top_verify.ts";
import { parseTarget, TARGET_TYPES } from "#lib/targeting/target.ts";
import { isTopMatchType, topMatchType } from "#lib/targeting/top_match.ts";
import { nearestName } from "#lib/text/nearest_name.ts";
import { isMap, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";

/**
 * The mistakes that stop a highstate. Salt fails with a traceback for a matcher that it does not know.
 * @param own The matchers of plugins.
 */
export function checkTop(read: ReadTop, own: ReadonlySet<string>): CompileError[] {
  return [...verifyTop(read.top, read.places), ...unknownMatchers(read, own)];
}

function unknownMatchers({ top, places }: ReadTop, own: ReadonlySet<string>): CompileError[] {
  return [...top].flatMap(([env, targets]) =>
    [...targets].flatMap(([target, items]): CompileError[] => {
      if (!Array.isArray(items)) return [];
      const type = topMatchType(items);
      const item = items.find((one) => isMap(one) && typeof one.get("match") === "string") ?? null;
      if (isTopMatchType(type) || own.has(type) || !isMap(item)) return [];
      const near = nearestName(type, TARGET_TYPES);
      return [{
        text: `There is no matcher ${repr(type)} for the target ${repr(target)} in saltenv ${repr(env)}`,
        place: places.key(item, "match") ?? places.key(targets, target),
        own: true,
        ...near !== undefined && { hint: `Did you mean ${near}?` },
      }];
    })
  );
}

/** The targets that no minion can match, since they cannot be read: an error of the tree, though not of a highstate. */
export function unreadableTargets({ top, places }: ReadTop, nodegroups: ValueMap): CompileError[] {
  return [...top].flatMap(([, targets]) =>
    [...targets].flatMap(([target, items]): CompileError[] => {
      const mistake = Array.isArray(items) ? targetMistake(target, topMatchType(items), nodegroups) : undefined;
      if (mistake === undefined) return [];
      const text = `The target ${repr(target)} of the top file matches no minion: ${mistake}`;
      return [{ text, place: places.key(targets, target), own: true }];
    })
  );
}

/** Why a target of a known type cannot be read. */
function targetMistake(target: Value, type: string, nodegroups: ValueMap): string | undefined {
  if (type === "data" || !isTopMatchType(type)) return undefined;
  if (type === "nodegroup" && !nodegroups.has(target)) return `there is no nodegroup ${repr(str(target))}`;
  if (typeof target !== "string") return undefined;
  try {
    parseTarget({ tgt: target, tgtType: type }, { nodegroups });
    return undefined;
  } catch (error) {
    if (error instanceof TargetError) return error.message;
    throw error;
  }
}
