/**
 * Tokens that have proved themselves, known to all threads of the master: what one MWorker has checked with RSA, which takes a
 * millisecond, the others need not check again. Knows no key files: a token counts for one version of one minion's key.
 * @module
 */

import { sha256 } from "@noble/hashes/sha2.js";
import { SharedTable } from "./shared_table.ts";

/** 128 bits of a digest: nobody finds another token that comes to the same. */
const DIGEST_BYTES = 16;

/** One thread's view of them. */
export class VerifiedTokens {
  readonly #table: SharedTable;

  /** A view. @param memory Another thread's; without it nothing has proved itself yet. */
  constructor(memory?: SharedArrayBuffer) {
    this.#table = new SharedTable(DIGEST_BYTES, memory);
  }

  /** What other threads make their own view of. */
  get memory(): SharedArrayBuffer {
    return this.#table.memory;
  }

  /** Whether `token` has proved that its sender has the private half of the key of `id`, as that key is in `version`. */
  has(id: string, version: string, token: Uint8Array): boolean {
    const known = this.#table.get(id, version);
    if (known === undefined) return false;
    const digest = sha256(token);
    return known.every((byte, i) => byte === digest[i]);
  }

  /** Notes that it has. */
  add(id: string, version: string, token: Uint8Array): void {
    this.#table.put(id, version, sha256(token).subarray(0, DIGEST_BYTES));
  }
}
