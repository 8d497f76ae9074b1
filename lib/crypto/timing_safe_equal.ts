/**
 * Comparing secrets without telling by the time it takes how much of them is right. Types for `@std/crypto`'s function,
 * whose npm build ships none.
 * @module
 */

import * as untyped from "@std/crypto/timing-safe-equal";

interface Untyped {
  timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean;
}

/** Whether `a` and `b` are the same bytes; takes as long whichever differs, for equal lengths. */
export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && (untyped as unknown as Untyped).timingSafeEqual(a, b);
}
