/**
 * The accepted minions' public keys as the MWorkers use them: parsed once, and each token checked once.
 *
 * A token is the same in every request of a minion, so one RSA operation a minion and master is enough (proved_tokens.ts);
 * the key's file is looked at each time, so that a deleted or changed key counts at once.
 * @module
 */

import { AuthenticationError, KeyError } from "./errors.ts";
import type { KeyStore } from "./key_store.ts";
import type { ProvedTokens } from "./proved_tokens.ts";
import { PublicKey } from "./rsa.ts";

interface Known {
  /** {@linkcode KeyStore.version} of what was read. */
  readonly version: string;
  readonly pem: string;
  /** Parsed when it is first needed: a token that another thread has checked needs no key. */
  key: PublicKey | undefined;
  token: Uint8Array | undefined;
}

const TOKEN_TEXT = "salt";

/** The keys of one thread. */
export class MinionKeys {
  readonly #store: KeyStore;
  readonly #proved: ProvedTokens;
  readonly #known = new Map<string, Known>();

  /** Knows no key yet. @param store Where the accepted keys lie. @param proved What all threads have checked. */
  constructor(store: KeyStore, proved: ProvedTokens) {
    this.#store = store;
    this.#proved = proved;
  }

  /** The accepted key of `id`; `undefined` if there is none, or none that can be read. */
  get(id: string): PublicKey | undefined {
    const known = this.#look(id);
    return known && parsed(known);
  }

  /** Whether `token` proves that its sender holds the private half of the accepted key of `id`. */
  provesToken(id: string, token: Uint8Array | undefined): boolean {
    const known = this.#look(id);
    if (known === undefined || token === undefined) return false;
    if (known.token !== undefined && sameBytes(known.token, token)) return true;
    if (!this.#proved.has(known.pem, token)) {
      const key = parsed(known);
      if (key === undefined || !proves(key, token)) return false;
      this.#proved.add(known.pem, token);
    }
    known.token = token;
    return true;
  }

  #look(id: string): Known | undefined {
    const version = this.#store.version(id, "accepted");
    const known = this.#known.get(id);
    if (version !== undefined && known?.version === version) return known;
    this.#known.delete(id);
    const pem = version === undefined ? undefined : this.#store.get(id, "accepted");
    if (version === undefined || pem === undefined) return undefined;
    const fresh: Known = { version, pem, key: undefined, token: undefined };
    this.#known.set(id, fresh);
    return fresh;
  }
}

/** The key; `undefined` if the file holds none, which proves nothing. */
function parsed(known: Known): PublicKey | undefined {
  try {
    return known.key ??= PublicKey.fromPem(known.pem);
  } catch (error) {
    if (error instanceof KeyError) return undefined;
    throw error;
  }
}

function proves(key: PublicKey, token: Uint8Array): boolean {
  try {
    return new TextDecoder().decode(key.recoverX931(token)) === TOKEN_TEXT;
  } catch (error) {
    if (error instanceof AuthenticationError) return false;
    throw error;
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
