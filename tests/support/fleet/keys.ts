/**
 * The content of a key store.
 * @module
 */

import type { KeyState, KeyStore } from "#lib/keys/store.ts";

/** The minion ids of each key state. */
export function allKeys(store: KeyStore): Record<KeyState, readonly string[]> {
  return {
    accepted: store.list("accepted"),
    pending: store.list("pending"),
    rejected: store.list("rejected"),
    denied: store.list("denied"),
  };
}
