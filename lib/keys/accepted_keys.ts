/**
 * The accepted minions' public keys as the MWorkers use them, and the tokens that prove possession of the private keys.
 * A minion sends the same token in every request, so one RSA operation per minion and master is enough
 * (verified_tokens.ts). The key's file is checked each time, so that a deleted or changed key counts at once. No thread
 * keeps the keys of all minions.
 * @module
 */

import { AuthenticationError, KeyError } from "#lib/errors.ts";
import type { KeyStore } from "./store.ts";
import type { VerifiedTokens } from "./verified_tokens.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import { PublicKey } from "#lib/crypto/rsa.ts";
import { sameBytes } from "#lib/crypto/same_bytes.ts";

const TOKEN_TEXT = "salt";
/** Number of tokens that a thread caches itself, which saves two digests. */
const KNOWN = 512;

/** The keys, as one thread sees them. */
export class MinionKeys {
  readonly #store: KeyStore;
  readonly #verified: VerifiedTokens;
  readonly #known = new BoundedMap<string, { readonly version: string; readonly token: Uint8Array }>(KNOWN);

  /**
   * @param store The accepted keys.
   * @param verified Tokens that any thread has verified.
   */
  constructor(store: KeyStore, verified: VerifiedTokens) {
    this.#store = store;
    this.#verified = verified;
  }

  /** The accepted key of `id`; `undefined` if there is none, or it cannot be read. */
  get(id: string): PublicKey | undefined {
    const pem = this.#store.get(id, "accepted");
    try {
      return pem === undefined ? undefined : PublicKey.fromPem(pem);
    } catch (error) {
      if (error instanceof KeyError) return undefined;
      throw error;
    }
  }

  /** Whether `token` proves that its sender has the private key of the accepted key of `id`. */
  provesToken(id: string, token: Uint8Array | undefined): boolean {
    // Read first: if the key is replaced during verification, the result is stored for the old version.
    const version = this.#store.version(id, "accepted");
    if (version === undefined || token === undefined) return false;
    const proof = this.#known.get(id);
    if (proof?.version === version && sameBytes(proof.token, token)) return true;
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
