/**
 * Token buckets in memory that all threads of a master share. A bucket is one number: the time at which it will be full
 * again. Taking a token moves that time by the time for one token, if it stays near enough to now.
 * @module
 */

import type { Rate } from "./flow_rules.ts";

/** Number of buckets. Of names whose places are taken, the one that came last has the place. */
const PLACES = 4_096;
/** A bucket: the hash of its name, and the time. */
const WORDS = 2;
const MICROSECONDS = 1_000_000;

/** The buckets of one kind of rule, by name. */
export class SharedBuckets {
  /** Other threads make their own view of it. */
  readonly memory: SharedArrayBuffer;
  readonly #words: BigInt64Array;

  /** @param memory The memory of another thread's view; without it all buckets are full. */
  constructor(memory?: SharedArrayBuffer) {
    this.memory = memory ?? new SharedArrayBuffer(PLACES * WORDS * BigInt64Array.BYTES_PER_ELEMENT);
    this.#words = new BigInt64Array(this.memory);
  }

  /**
   * Takes a token of the bucket `name`.
   * @param nowMs Of a clock that all threads have in common.
   * @returns 0, or the time in milliseconds until there is one; then none was taken.
   */
  take(name: string, { burst, perSecond }: Rate, nowMs: number): number {
    const at = this.#place(name);
    const now = BigInt(Math.floor(nowMs * 1000)), cost = BigInt(Math.ceil(MICROSECONDS / perSecond));
    const room = BigInt(Math.ceil(burst * MICROSECONDS / perSecond));
    for (;;) {
      const full = Atomics.load(this.#words, at + 1);
      if (full > now + room) {
        // A clock that was set back must not leave a bucket empty for longer than it takes to fill.
        Atomics.compareExchange(this.#words, at + 1, full, now + room);
        continue;
      }
      const next = (full < now ? now : full) + cost;
      if (next > now + room) return Math.ceil(Number(next - now - room) / 1000);
      if (Atomics.compareExchange(this.#words, at + 1, full, next) === full) return 0;
    }
  }

  /** Where the bucket of `name` is; a bucket of another name there becomes full. */
  #place(name: string): number {
    const hash = hashOf(name);
    const at = Number(hash % BigInt(PLACES)) * WORDS;
    if (Atomics.load(this.#words, at) !== hash) {
      Atomics.store(this.#words, at, hash);
      Atomics.store(this.#words, at + 1, 0n);
    }
    return at;
  }
}

/** FNV-1a in 62 bits, above 0: 0 is a place that nobody has. */
function hashOf(name: string): bigint {
  let [low, high] = [0x811c9dc5, 0x01000193];
  for (let i = 0; i < name.length; i++) {
    low = Math.imul(low ^ name.charCodeAt(i), 0x01000193);
    high = Math.imul(high ^ low, 0x85ebca6b);
  }
  return (BigInt(high >>> 2) << 32n | BigInt(low >>> 0)) + 1n;
}
