/**
 * Reads values whose shape the writer of a configuration or of a state chooses: one or several, a map or nothing.
 * @module
 */

import { isMap, str, truthy, type Value, type ValueMap } from "./value.ts";

/** `value` if it is a map, otherwise an empty map. */
export function mapOrEmpty(value: Value | undefined): ValueMap {
  return isMap(value) ? value : new Map();
}

/** `value` if it is a list, otherwise an empty list. */
export function listOrEmpty(value: Value | undefined): Value[] {
  return Array.isArray(value) ? value : [];
}

/** `value` if it is a list, otherwise a list of it alone. */
export function asList(value: Value): Value[] {
  return Array.isArray(value) ? value : [value];
}

/** The items of an argument that is one value, a list, or nothing: a false value (None, False, empty) has no items. */
export function asListIfTruthy(value: Value): Value[] {
  return truthy(value) ? asList(value) : [];
}

/** The strings of a list, without its other items; of anything else none. */
export function onlyStrings(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
}

/** Python's `str()` of a value; None and what is not given stay `null`. */
export function textOrNull(value: Value | undefined): string | null {
  return value === null || value === undefined ? null : str(value);
}

/** The map under a key of `parent`, made if there is none. */
export function mapUnder(parent: ValueMap, key: Value): ValueMap {
  const child = parent.get(key);
  if (isMap(child)) return child;
  const made: ValueMap = new Map();
  parent.set(key, made);
  return made;
}

/** The list under a key of `parent`, made if there is none. */
export function listUnder(parent: ValueMap, key: Value): Value[] {
  const child = parent.get(key);
  if (Array.isArray(child)) return child;
  const made: Value[] = [];
  parent.set(key, made);
  return made;
}

/** Bytes as they are; the UTF-8 of the text of anything else. */
export function bytesOf(value: Value): Uint8Array {
  return value instanceof Uint8Array ? value : new TextEncoder().encode(str(value));
}
