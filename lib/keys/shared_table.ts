/**
 * Small records by name, in memory shared by all threads of the master: what one MWorker has read or verified, the
 * others need not read or verify again, and no thread keeps a copy for each of thousands of minions. A cache without
 * locks: each record has a digest over its name, version and bytes, so a record that two threads wrote at once, or that
 * another name has replaced, counts as missing. Knows nothing of the contents.
 * @module
 */

import { sha256 } from "@noble/hashes/sha2.js";

/** In a larger fleet some records replace each other, which costs reading or verifying again. */
const PLACES = 1 << 14;
/** 128 bits: nobody can find other bytes with the same digest. */
const DIGEST_BYTES = 16;

const utf8 = new TextEncoder();

/** One thread's view of a table with records of one size. */
export class SharedTable {
  /** Other threads make their own view of it. Only pages that are written take memory. */
  readonly memory: SharedArrayBuffer;
  readonly #bytes: Uint8Array;
  readonly #size: number;

  /**
   * @param size Bytes of each record.
   * @param memory The memory of another thread's view; without it an empty table is made.
   */
  constructor(size: number, memory?: SharedArrayBuffer) {
    this.#size = size;
    this.memory = memory ?? new SharedArrayBuffer(PLACES * (DIGEST_BYTES + size));
    this.#bytes = new Uint8Array(this.memory);
  }

  /** The record of `name` with exactly this version, if it is still there. */
  get(name: string, version: string): Uint8Array | undefined {
    const at = this.#place(name);
    // A copy, so that it does not change after the check.
    const record = this.#bytes.slice(at, at + DIGEST_BYTES + this.#size);
    const value = record.subarray(DIGEST_BYTES);
    const right = digest(name, version, value);
    for (let i = 0; i < DIGEST_BYTES; i++) if (record[i] !== right[i]) return undefined;
    return value;
  }

  /** Stores `value`, of the table's size, in place of any version of `name`. */
  put(name: string, version: string, value: Uint8Array): void {
    if (value.length !== this.#size) throw new RangeError(`A record of ${value.length} bytes, not ${this.#size}`);
    const at = this.#place(name);
    this.#bytes.set(digest(name, version, value).subarray(0, DIGEST_BYTES), at);
    this.#bytes.set(value, at + DIGEST_BYTES);
  }

  /** FNV-1a, because ids often end in consecutive numbers, which it spreads. */
  #place(name: string): number {
    let hash = 0x811c9dc5;
    for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
    return ((hash ^ hash >>> 15) & (PLACES - 1)) * (DIGEST_BYTES + this.#size);
  }
}

/** The lengths separate the parts. */
function digest(name: string, version: string, value: Uint8Array): Uint8Array {
  const head = utf8.encode(`${name.length}:${version.length}:${name}${version}`);
  return sha256.create().update(head).update(value).digest();
}
