/**
 * Small records by name, in memory that all threads of the master share: what one MWorker has read or checked, the others
 * need not read or check again, and no thread keeps a copy of its own for each of thousands of minions.
 *
 * A cache, without locks. A record carries a digest over its name, its version and its bytes: one that two threads wrote at
 * once, or that a record of another name pushed out of its place, is as if it were not there. Knows nothing of what it holds.
 * @module
 */

import { sha256 } from "@noble/hashes/sha2.js";

/** Of a larger fleet than this some push each other out, which costs the file or the check again. */
const PLACES = 1 << 14;
/** 128 bits: nobody finds other bytes of the same digest. */
const DIGEST_BYTES = 16;

const utf8 = new TextEncoder();

/** One thread's view of a table whose records are all of one size. */
export class SharedTable {
  /** What other threads make their own view of; of its pages only those that are written to take memory. */
  readonly memory: SharedArrayBuffer;
  readonly #bytes: Uint8Array;
  readonly #size: number;

  /** A view of a table. @param size The bytes of each record. @param memory Another thread's; without it an empty table is made. */
  constructor(size: number, memory?: SharedArrayBuffer) {
    this.#size = size;
    this.memory = memory ?? new SharedArrayBuffer(PLACES * (DIGEST_BYTES + size));
    this.#bytes = new Uint8Array(this.memory);
  }

  /** What was put under `name` in this very version, as far as it is still there. */
  get(name: string, version: string): Uint8Array | undefined {
    const at = this.#place(name);
    // A copy: what is checked must not change any more.
    const record = this.#bytes.slice(at, at + DIGEST_BYTES + this.#size);
    const value = record.subarray(DIGEST_BYTES);
    const right = digest(name, version, value);
    for (let i = 0; i < DIGEST_BYTES; i++) if (record[i] !== right[i]) return undefined;
    return value;
  }

  /** Puts `value`, of the table's size, in the place of whatever version of `name` was there. */
  put(name: string, version: string, value: Uint8Array): void {
    if (value.length !== this.#size) throw new RangeError(`A record of ${value.length} bytes, not ${this.#size}`);
    const at = this.#place(name);
    this.#bytes.set(digest(name, version, value).subarray(0, DIGEST_BYTES), at);
    this.#bytes.set(value, at + DIGEST_BYTES);
  }

  /** FNV-1a: numbers in a row, which ids often end in, do not meet. */
  #place(name: string): number {
    let hash = 0x811c9dc5;
    for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
    return ((hash ^ hash >>> 15) & (PLACES - 1)) * (DIGEST_BYTES + this.#size);
  }
}

/** The lengths keep the end of one part apart from the beginning of the next. */
function digest(name: string, version: string, value: Uint8Array): Uint8Array {
  const head = utf8.encode(`${name.length}:${version.length}:${name}${version}`);
  return sha256.create().update(head).update(value).digest();
}
