/**
 * Makes a dict from entries.
 * @module
 */

import { dictSet } from "#lib/python/dict.ts";
import type { Obj, ObjMap } from "#lib/python/object.ts";

/** A dict of entries; later ones replace earlier ones with an equal key. */
export function dictOf(entries: Iterable<readonly [Obj, Obj]>): ObjMap {
  const map: ObjMap = new Map();
  for (const [key, value] of entries) dictSet(map, key, value);
  return map;
}
