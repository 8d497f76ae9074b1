/**
 * Values of pillar as they are shown: hidden, or only their types.
 * Source: Salt 3008.3 `salt/utils/secret.py` serial, `salt/modules/pillar.py` obfuscate.
 * @module
 */

import { MASK } from "./no_log.ts";
import { isMap, truthy, typeName, type Value } from "#lib/values/value.ts";

/** `value` with a mask in place of each text, number and true; keys stay, and so do empty values, zero and false. */
export function maskValue(value: Value): Value {
  return leaves(value, (leaf) => {
    if (!truthy(leaf)) return leaf;
    return leaf instanceof Uint8Array ? new TextEncoder().encode(MASK) : MASK;
  });
}

/** `value` with the type of each value in its place: `<str>`. */
export function obfuscateValue(value: Value): Value {
  return leaves(value, (leaf) => `<${typeName(leaf)}>`);
}

function leaves(value: Value, leaf: (value: Value) => Value): Value {
  if (Array.isArray(value)) return value.map((item) => leaves(item, leaf));
  if (isMap(value)) return new Map([...value].map(([key, item]) => [key, leaves(item, leaf)]));
  return leaf(value);
}
