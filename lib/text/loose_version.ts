/**
 * Compares versions of any form: numbers by their value, words by their letters.
 * Source: Salt 3008.3, `salt/utils/versions.py` LooseVersion.
 * @module
 */

import { compareStrings } from "#lib/values/value.ts";

/** Number of digits to which a number is padded when it is compared with a word. */
const PADDED = 8;

function parts(version: string): (number | string)[] {
  return [...version.matchAll(/\d+|[a-z]+|[^.\da-z]+/g)].map(([part]) => /^\d/.test(part) ? Number(part) : part);
}

/**
 * Compares two versions: negative, zero or positive. If one is the beginning of the other, the longer one is greater.
 */
export function compareLooseVersions(a: string, b: string): number {
  const [left, right] = [parts(a), parts(b)];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [one, other] = [left[i], right[i]];
    const order = typeof one === "number" && typeof other === "number"
      ? one - other
      : compareStrings(pad(one), pad(other));
    if (order !== 0) return Math.sign(order);
  }
  return Math.sign(left.length - right.length);
}

function pad(part: number | string): string {
  return typeof part === "number" ? String(part).padStart(PADDED, "0") : part;
}
