/**
 * Where data stands in the document that it was read from.
 * @module
 */

import type { Place } from "#lib/errors.ts";
import type { Value, ValueMap } from "./value.ts";

/** The places within one document, from the renderer. */
export interface Positions {
  /** The place of `key` in the map object `map`, which is the one of the data itself. */
  key(map: ValueMap, key: Value): Place | undefined;
  /** The place of an item of the list object `list`, which is the one of the data itself. */
  item(list: readonly Value[], index: number): Place | undefined;
  /** The place of the key whose value is this map or list object; `undefined` if it is in a list. */
  holder(made: ValueMap | readonly Value[]): Place | undefined;
}
