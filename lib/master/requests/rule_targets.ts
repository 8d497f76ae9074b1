/**
 * The minions that a rule of access applies to: its key is a compound target.
 * @module
 */

import { TargetError } from "#lib/errors.ts";
import { type KnownFleet, resolveTarget } from "#lib/fleet/resolve_target.ts";

/**
 * The accepted ids that `expression` means for certain; none if it cannot be read. Values of pillar are compared
 * exactly, and a minion without known data matches no term that needs them.
 */
export function idsOf(expression: string, fleet: KnownFleet): ReadonlySet<string> {
  try {
    const target = { tgt: expression, tgtType: "compound_pillar_exact" };
    return new Set(resolveTarget(target, fleet, { greedy: false }).minions);
  } catch (error) {
    if (error instanceof TargetError) return new Set();
    throw error;
  }
}
