/**
 * What an operator is told whose target matches nobody, when it would match minions whose keys are still to be accepted.
 * @module
 */

import type { KeyStore } from "./key_store.ts";
import { resolveTarget } from "./target.ts";
import type { Value } from "./value.ts";

/** More ids than these are counted, not named. */
const NAMED = 5;

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
  const more = pending.length > NAMED ? ` and ${pending.length - NAMED} more` : "";
  const names = `${pending.slice(0, NAMED).join(", ")}${more}`;
  return `Not accepted yet, and so not asked: ${names}. To accept a key: salt-key -a ${pending[0]}\n`;
}
