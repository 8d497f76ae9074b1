/**
 * Verified tokens, shared by all threads of the master: what one MWorker has verified with RSA, which takes a
 * millisecond, the others need not verify again. A token is stored for one version of one minion's key. Knows no key
 * files.
 * @module
 */

import { sha256 } from "@noble/hashes/sha2.js";
import { SharedTable } from "./shared_table.ts";

/** 128 bits of a digest: nobody can find another token with the same digest. */
const DIGEST_BYTES = 16;

/** One thread's view of the verified tokens. */
export class VerifiedTokens {
  readonly #table: SharedTable;

  /** @param memory The memory of another thread's view; without it an empty table is made. */
  constructor(memory?: SharedArrayBuffer) {
    this.#table = new SharedTable(DIGEST_BYTES, memory);
  }

  /** Other threads make their own view of it. */
  get memory(): SharedArrayBuffer {
    return this.#table.memory;
  }

  /** Whether `token` has proved that its sender has the private key of `id`, for this `version` of the key. */
  has(id: string, version: string, token: Uint8Array): boolean {
    const stored = this.#table.get(id, version);
    if (stored === undefined) return false;
    const digest = sha256(token);
    return stored.every((byte, i) => byte === digest[i]);
  }

  /** Stores that it has. */
  add(id: string, version: string, token: Uint8Array): void {
    this.#table.put(id, version, sha256(token).subarray(0, DIGEST_BYTES));
  }
}
