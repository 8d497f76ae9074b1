/**
 * Compares secrets in constant time. Gives types to `@std/crypto`'s function, whose npm build has none.
 * @module
 */

import * as untyped from "@std/crypto/timing-safe-equal";

interface Untyped {
  timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean;
}

/** Whether `a` and `b` are the same bytes. For equal lengths the time does not depend on the contents. */
export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && (untyped as unknown as Untyped).timingSafeEqual(a, b);
}
