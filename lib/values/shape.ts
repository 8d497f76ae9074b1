/**
 * Reads values whose shape the writer of a configuration or of a state chooses: one or several, a map or nothing.
 * @module
 */

import { isMap, truthy, type Value, type ValueMap } from "./value.ts";

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
