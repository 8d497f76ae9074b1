/**
 * Whose turn it is to sign in, of those whose key is accepted: everybody's, but of whoever does it again and again.
 *
 * A sign-in is not signed by the minion: whoever recorded one can send it again, and whoever has seen the public key can make others.
 * Each costs the master two private operations. So one nonce is answered a few times, as an honest minion sends the same request
 * again when no answer comes; and who signs in more often in a minute than an honest minion does shares a limit with others like
 * it. What it remembers is in memory that all threads share: a cache of a fixed size, without locks. Knows no keys.
 * @module
 */

import { sha256 } from "@noble/hashes/sha2.js";
import type { RateLimit, Turn } from "./rate_limit.ts";

/** How often the same request is answered. */
const SAME_NONCE = 3;
/** Sign-ins in a minute that each minion has for itself. One whose connection is lost all the time needs fewer. */
const OWN_TURNS = 10;
const WINDOW_MS = 60_000;
/** Of a fleet as large as this, some share their turns. */
const PLACES = 1 << 16;
/** Of a minion: the minute, and its sign-ins in it. Of a nonce: a part of its digest, and how often it came. */
const INTS = 2;

/** The memory of the turns; of its pages only those that are written to take memory. */
export function signInMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * PLACES * INTS * Int32Array.BYTES_PER_ELEMENT);
}

/** One thread's view of the turns. */
export class SignInTurns {
  readonly #minions: Int32Array;
  readonly #nonces: Int32Array;
  readonly #others: RateLimit;

  /**
   * A view.
   * @param others The limit of those who have used up their own turns.
   * @param memory `signInMemory()`, of all threads.
   */
  constructor(others: RateLimit, memory: SharedArrayBuffer = signInMemory()) {
    this.#others = others;
    this.#minions = new Int32Array(memory, 0, PLACES * INTS);
    this.#nonces = new Int32Array(memory, this.#minions.byteLength);
  }

  /**
   * Takes a turn for the minion `id`.
   * @param nonce Of its request, as text; `undefined` up to version 1, which has none.
   * @returns `refused`, or `first refused` where that is to be told.
   */
  take(id: string, nonce: string | undefined, nowMs: number = Date.now()): Turn {
    const digest = new DataView(sha256(new TextEncoder().encode(`${id.length}:${id}${nonce ?? ""}`)).buffer);
    if (nonce !== undefined) {
      // 0 is an empty place.
      const times = this.#count(this.#nonces, digest.getUint32(0), digest.getInt32(4) || 1);
      if (times > SAME_NONCE) return times === SAME_NONCE + 1 ? "first refused" : "refused";
    }
    const minute = Math.floor(nowMs / WINDOW_MS) | 0;
    if (this.#count(this.#minions, placeOf(id), minute) <= OWN_TURNS) return "granted";
    return this.#others.take(nowMs);
  }

  /** Counts one more of `what` at a place, where something else may have been; gives how many it were. */
  #count(counters: Int32Array, place: number, what: number): number {
    const at = place % PLACES * INTS;
    const before = Atomics.load(counters, at);
    // Of several threads that bring something new, one begins the count.
    if (before !== what && Atomics.compareExchange(counters, at, before, what) === before) {
      Atomics.store(counters, at + 1, 0);
    }
    return Atomics.add(counters, at + 1, 1) + 1;
  }
}

/** FNV-1a: numbers in a row, which ids often end in, do not meet. The ids are those of accepted keys. */
function placeOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return (hash ^ hash >>> 15) >>> 0;
}
