/**
 * What an operator is told whose target matches nobody, when it would match minions whose keys are still to be accepted.
 * @module
 */

import { truncateList } from "../text/truncate.ts";
import type { KeyStore } from "../keys/store.ts";
import { resolveTarget } from "../fleet/target.ts";
import type { Value } from "../values/value.ts";

/**
 * A line for standard error, or the empty string if there is nothing to say.
 * @param keys The master's; a user who may not read them learns nothing.
 * @throws {TargetError} As {@linkcode resolveTarget}.
 */
export function pendingHint(tgt: Value, tgtType: string, keys: Pick<KeyStore, "list">): string {
  let pending: string[];
  try {
    pending = resolveTarget(tgt, tgtType, keys.list("pending")).minions;
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied) return "";
    throw error;
  }
  if (pending.length === 0) return "";
  return `Not accepted yet, and so not asked: ${truncateList(pending)}. To accept a key: salt-key -a ${pending[0]}\n`;
}
