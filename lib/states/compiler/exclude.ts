/**
 * The stage `exclude`: removes the IDs in `exclude` declarations, and the IDs of the SLS files in them.
 * Source: Salt 3008.3, `_apply_exclude` of `salt/state.py`.
 * @module
 */

import { firstPair, isReserved } from "./high.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";

/** Removes `__exclude__` from `high` and applies it. */
export function applyExcludes(high: ValueMap): void {
  const excludes = high.get("__exclude__");
  if (!Array.isArray(excludes)) return;
  high.delete("__exclude__");
  const ids = new Set<Value>();
  const files: ((sls: string) => boolean)[] = [];
  for (const exclude of excludes) {
    if (typeof exclude === "string") files.push(compileGlob(exclude));
    if (!isMap(exclude) || exclude.size !== 1) continue;
    const [kind, what] = firstPair(exclude) ?? [];
    if (kind === "sls" && typeof what === "string") files.push(compileGlob(what));
    else if (kind === "id" && what !== undefined) ids.add(what);
  }
  for (const [id, body] of high) {
    const sls = isMap(body) && !isReserved(id) ? body.get("__sls__") : undefined;
    if (typeof sls === "string" && sls !== "" && files.some((matches) => matches(sls))) ids.add(id);
  }
  for (const id of ids) high.delete(id);
}
