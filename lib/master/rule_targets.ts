/**
 * Which minions a rule of access means: its key is a compound target.
 * @module
 */

import { TargetError } from "../errors.ts";
import { resolveTarget } from "../fleet/target.ts";

/** The accepted ids that `expression` means; none if it cannot be read. */
export function idsOf(expression: string, accepted: readonly string[]): ReadonlySet<string> {
  try {
    return new Set(resolveTarget(expression, "glob", accepted).minions);
  } catch (error) {
    if (error instanceof TargetError) return new Set();
    throw error;
  }
}
