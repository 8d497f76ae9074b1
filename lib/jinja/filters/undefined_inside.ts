/**
 * Undefined values inside lists and dicts: filters that write or read whole structures give one undefined value in
 * their place. Source: Salt 3008.3, `salt/utils/jinja.py` _handle_strict_undefined.
 * @module
 */

import { Undefined } from "#lib/jinja/core/undefined.ts";
import type { Obj, Run } from "#lib/python/object.ts";

/** Every strict undefined value in `obj`, each collection is visited once. */
function undefinedIn(obj: Obj, seen: Set<Obj>): Undefined[] {
  if (obj instanceof Undefined) return obj.what.kind === "strict" ? [obj] : [];
  const items = itemsOf(obj);
  if (items === undefined || seen.has(obj)) return [];
  seen.add(obj);
  const undefineds: Undefined[] = [];
  for (const item of items) {
    // Most items are texts and numbers.
    if (typeof item === "object" && item !== null) undefineds.push(...undefinedIn(item, seen));
  }
  return undefineds;
}

function itemsOf(obj: Obj): Iterable<Obj> | undefined {
  if (Array.isArray(obj)) return obj;
  return obj instanceof Map ? obj.values() : undefined;
}

/** The filter `run`, which is not called for a value that is undefined somewhere. */
export function handlingUndefined(run: Run): Run {
  return (args, kwargs, context) => {
    const undefineds = undefinedIn(args[0], new Set());
    if (undefineds.length === 0) return run(args, kwargs, context);
    return undefineds.length === 1
      ? undefineds[0]
      : context.undefined(undefineds.map(({ message }) => message).join("\n"));
  };
}
