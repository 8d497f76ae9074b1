/**
 * The accepted minions' public keys as the MWorkers use them: parsed once, and each token checked once.
 *
 * A token is the same in every request of a minion, so one RSA operation a minion and thread is enough; the key's file is
 * read each time, so that a deleted or changed key counts at once.
 * @module
 */

import { AuthenticationError } from "./errors.ts";
import type { KeyStore } from "./key_store.ts";
import { PublicKey } from "./rsa.ts";

interface Known {
  readonly pem: string;
  readonly key: PublicKey;
  token: Uint8Array | undefined;
}

const TOKEN_TEXT = "salt";

/** The keys of one thread. */
export class MinionKeys {
  readonly #store: KeyStore;
  readonly #known = new Map<string, Known>();

  /** Knows no key yet. @param store Where the accepted keys lie. */
  constructor(store: KeyStore) {
    this.#store = store;
  }

  /** The accepted key of `id`; `undefined` if there is none, or none that can be read. */
  get(id: string): PublicKey | undefined {
    return this.#look(id)?.key;
  }

  /** Whether `token` proves that its sender holds the private half of the accepted key of `id`. */
  provesToken(id: string, token: Uint8Array | undefined): boolean {
    const known = this.#look(id);
    if (known === undefined || token === undefined) return false;
    if (known.token !== undefined && sameBytes(known.token, token)) return true;
    try {
      if (new TextDecoder().decode(known.key.recoverX931(token)) !== TOKEN_TEXT) return false;
    } catch (error) {
      if (error instanceof AuthenticationError) return false;
      throw error;
    }
    known.token = token;
    return true;
  }

  #look(id: string): Known | undefined {
    const pem = this.#store.get(id, "accepted");
    const known = this.#known.get(id);
    if (pem !== undefined && known?.pem === pem) return known;
    this.#known.delete(id);
    if (pem === undefined) return undefined;
    try {
      const fresh: Known = { pem, key: PublicKey.fromPem(pem), token: undefined };
      this.#known.set(id, fresh);
      return fresh;
    } catch {
      return undefined; // a key file that is no key proves nothing
    }
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
