/**
 * The accepted minions' public keys as the MWorkers use them, and the tokens that prove who holds their private halves.
 *
 * A token is the same in every request of a minion, so one RSA operation a minion and master is enough (verified_tokens.ts);
 * the key's file is looked at each time, so that a deleted or changed key counts at once. No thread keeps
 * all minions.
 * @module
 */

import { AuthenticationError, KeyError } from "../errors.ts";
import type { KeyStore } from "./store.ts";
import type { VerifiedTokens } from "./verified_tokens.ts";
import { BoundedMap } from "../values/bounded_map.ts";
import { PublicKey } from "../crypto/rsa.ts";
import { sameBytes } from "../crypto/same_bytes.ts";

const TOKEN_TEXT = "salt";
/** How many tokens a thread knows by itself, which saves two digests. */
const KNOWN = 512;

/** The keys as one thread sees them. */
export class MinionKeys {
  readonly #store: KeyStore;
  readonly #verified: VerifiedTokens;
  readonly #known = new BoundedMap<string, { readonly version: string; readonly token: Uint8Array }>(KNOWN);

  /** Reads nothing yet. @param store Where the accepted keys lie. @param verified What all threads have checked. */
  constructor(store: KeyStore, verified: VerifiedTokens) {
    this.#store = store;
    this.#verified = verified;
  }

  /** The accepted key of `id`; `undefined` if there is none, or none that can be read, which proves nothing. */
  get(id: string): PublicKey | undefined {
    const pem = this.#store.get(id, "accepted");
    try {
      return pem === undefined ? undefined : PublicKey.fromPem(pem);
    } catch (error) {
      if (error instanceof KeyError) return undefined;
      throw error;
    }
  }

  /** Whether `token` proves that its sender holds the private half of the accepted key of `id`. */
  provesToken(id: string, token: Uint8Array | undefined): boolean {
    // First: what is verified with a key that comes in between is noted for a version that is gone.
    const version = this.#store.version(id, "accepted");
    if (version === undefined || token === undefined) return false;
    const known = this.#known.get(id);
    if (known?.version === version && sameBytes(known.token, token)) return true;
    if (!this.#verified.has(id, version, token)) {
      const key = this.get(id);
      if (key === undefined || !proves(key, token)) return false;
      this.#verified.add(id, version, token);
    }
    this.#known.set(id, { version, token });
    return true;
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
