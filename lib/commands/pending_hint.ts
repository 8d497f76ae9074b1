/**
 * A hint for the operator when a target matches no minion, but would match minions whose keys are not accepted yet.
 * @module
 */

import { truncateList } from "../text/truncate.ts";
import type { KeyStore } from "../keys/store.ts";
import { resolveTarget } from "../fleet/target.ts";
import type { Value } from "../values/value.ts";

/**
 * A line for standard error, or the empty string.
 * @param keys The master's keys; a user who may not read them gets no hint.
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
