/**
 * Limits the sign-ins of accepted keys. A sign-in is not signed by the minion: a recorded one can be sent again, and
 * any host that knows the public key can make others. Each costs the master two private operations. Therefore one nonce
 * is answered only a few times (an honest minion repeats a request without an answer), and sign-ins above an honest
 * minion's rate per minute share a common limit. The counts are in memory shared by all threads: a cache of fixed size
 * without locks. Knows no keys.
 * @module
 */

import { sha256 } from "@noble/hashes/sha2.js";
import type { RateLimit, Turn } from "./rate_limit.ts";

/** Maximum number of answers to the same request. */
const SAME_NONCE = 3;
/** Sign-ins per minute that each minion has for itself; even one that loses its connection constantly needs fewer. */
const OWN_TURNS = 10;
const WINDOW_MS = 60_000;
/** In a larger fleet some minions share their counts. */
const PLACES = 1 << 16;
/** For a minion: the minute, and its number of sign-ins. For a nonce: a part of its digest, and its number. */
const INTS = 2;

/** The memory of the counts; only pages that are written take memory. */
export function signInMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * PLACES * INTS * Int32Array.BYTES_PER_ELEMENT);
}

/** One thread's view of the counts. */
export class SignInTurns {
  readonly #minions: Int32Array;
  readonly #nonces: Int32Array;
  readonly #others: RateLimit;

  /**
   * @param others The common limit of minions that have used up their own sign-ins.
   * @param memory `signInMemory()`, the same for all threads.
   */
  constructor(others: RateLimit, memory: SharedArrayBuffer = signInMemory()) {
    this.#others = others;
    this.#minions = new Int32Array(memory, 0, PLACES * INTS);
    this.#nonces = new Int32Array(memory, this.#minions.byteLength);
  }

  /**
   * Takes a turn for the minion `id`.
   * @param nonce The request's nonce as text; `undefined` up to version 1, which has none.
   * @returns `refused`, or `first refused` if it should be logged.
   */
  take(id: string, nonce: string | undefined, nowMs: number = Date.now()): Turn {
    const digest = new DataView(sha256(new TextEncoder().encode(`${id.length}:${id}${nonce ?? ""}`)).buffer);
    if (nonce !== undefined) {
      // 0 marks an empty place.
      const times = this.#count(this.#nonces, digest.getUint32(0), digest.getInt32(4) || 1);
      if (times > SAME_NONCE) return times === SAME_NONCE + 1 ? "first refused" : "refused";
    }
    const minute = Math.floor(nowMs / WINDOW_MS) | 0;
    if (this.#count(this.#minions, placeOf(id), minute) <= OWN_TURNS) return "granted";
    return this.#others.take(nowMs);
  }

  /** Counts one more of `what` at a place, which may hold another one; returns the count. */
  #count(counters: Int32Array, place: number, what: number): number {
    const at = place % PLACES * INTS;
    const before = Atomics.load(counters, at);
    // If several threads store a new entry, one of them resets the count.
    if (before !== what && Atomics.compareExchange(counters, at, before, what) === before) {
      Atomics.store(counters, at + 1, 0);
    }
    return Atomics.add(counters, at + 1, 1) + 1;
  }
}

/** FNV-1a, because ids often end in consecutive numbers, which it spreads. The ids are those of accepted keys. */
function placeOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return (hash ^ hash >>> 15) >>> 0;
}
