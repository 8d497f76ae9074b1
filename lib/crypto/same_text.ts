/**
 * Compares secrets that are text.
 * @module
 */

import { timingSafeEqual } from "./timing_safe_equal.ts";

/** Whether `a` and `b` are the same text. For equal lengths the time does not depend on the contents. */
export function sameText(a: string, b: string): boolean {
  const utf8 = new TextEncoder();
  return timingSafeEqual(utf8.encode(a), utf8.encode(b));
}
