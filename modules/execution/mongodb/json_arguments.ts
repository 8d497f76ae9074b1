/**
 * Arguments of `mongodb` that may be JSON.
 * Source: Salt 3006.28 `salt/modules/mongodb.py` (`_to_dict`).
 * @module
 */

import { JsonError } from "#lib/errors.ts";
import { parseJson } from "#lib/values/json_read.ts";
import type { Value } from "#lib/values/value.ts";

/** A value, or why its text is no JSON. */
export type ReadJson = { readonly value: Value } | { readonly problem: string };

/** The value of a text with JSON; another value as it is. */
export function readJson(given: Value): ReadJson {
  if (typeof given !== "string") return { value: given };
  try {
    return { value: parseJson(given) };
  } catch (error) {
    if (error instanceof JsonError) return { problem: error.message };
    throw error;
  }
}
