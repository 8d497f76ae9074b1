/**
 * The accepted minions of a target, by what the master keeps of them.
 * @module
 */

import { CommandError, TargetError } from "#lib/errors.ts";
import { acceptedFleet, resolveTarget } from "#lib/fleet/resolve_target.ts";
import type { RunnerContext } from "#lib/client/runner_context.ts";
import type { Value } from "#lib/values/value.ts";

/** A target, and its kind: `glob`, `list`, `compound`… */
export interface MinionsTarget {
  readonly tgt: Value;
  readonly tgt_type: string;
}

/**
 * The minions that a target means; minions without known data are left out if the target needs data.
 * @throws {CommandError} If the target cannot be read.
 */
export function targetMinions({ tgt, tgt_type }: MinionsTarget, context: RunnerContext): readonly string[] {
  try {
    return resolveTarget({ tgt, tgtType: tgt_type }, acceptedFleet(context.opts, context)).minions;
  } catch (error) {
    throw error instanceof TargetError ? new CommandError(error.message) : error;
  }
}
