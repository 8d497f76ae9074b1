/**
 * Which values are true in an argument that Salt does not convert: `True`, a number above 0, the text `true`.
 * Source: Salt 3008.3, `salt/utils/data.py` is_true.
 * @module
 */

import { toNumber, truthy, type Value } from "./value.ts";

/** Whether an argument counts as true. */
export function isTrue(value: Value | undefined): boolean {
  if (typeof value === "string") {
    const text = value.trim();
    if (/^[+-]?(\d+(?:\.\d*)?|\.\d+)$/.test(text)) return Number(text) > 0;
    return text.toLowerCase() === "true";
  }
  const number = typeof value === "boolean" ? undefined : toNumber(value);
  return number === undefined ? truthy(value) : number > 0;
}
