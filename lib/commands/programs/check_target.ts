/**
 * Parses a target before anything is sent: an invalid expression is a usage error.
 * @module
 */

import { TargetError, UsageError } from "#lib/errors.ts";
import { parseTarget, type TypedTarget } from "#lib/targeting/target.ts";
import type { ValueMap } from "#lib/values/value.ts";

/** @throws {UsageError} With the reason, if the target cannot be read. */
export function checkTarget(
  target: TypedTarget,
  { nodegroups, delimiter }: { readonly nodegroups: ValueMap; readonly delimiter: string },
): void {
  try {
    parseTarget(target, { nodegroups, delimiter });
  } catch (error) {
    throw error instanceof TargetError ? new UsageError(error.message) : error;
  }
}
