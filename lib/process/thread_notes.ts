/**
 * What a thread notes in shared memory, for whoever outlives it: its lease, what it has in libzmq, and its descriptors.
 *
 * Each thread has notes of its own, which it writes under its lease. Knows where what is noted, not what is done with it.
 * @module
 */

import { holdLease } from "./thread_lease.ts";

/** How many sockets a thread with notes may have. */
export const MOST_SOCKETS = 16;

/** Where what is, in numbers of 8 bytes. */
const LEASE = 0, CONTEXT = 1, HEIRLOOM = 2, WAIT = 3, SOCKETS = 7, LENGTH = SOCKETS + MOST_SOCKETS;
const WIDTH = 8;

/** Where what is in {@linkcode ThreadNotes.wait}. */
export const WAIT_NOTES = {
  /** The descriptor of the epoll instance. */
  epoll: 0,
  /** The descriptor of the counter that ends a wait. */
  wake: 1,
  /** The address of the memory that the system writes events to. */
  events: 2,
  /** Whether a wait is under way: 1 or 0. */
  waiting: 3,
} as const;

/** One thread's notes, as any thread sees them. In each number 0 is none. */
export class ThreadNotes {
  /** What other threads make their own view of. */
  readonly memory: SharedArrayBuffer;
  /** The word of the thread's lease. */
  readonly lease: Int32Array;
  /** Addresses of the thread's sockets. */
  readonly sockets: BigUint64Array;
  /** The thread's wait for descriptors, see {@linkcode WAIT_NOTES}. */
  readonly wait: BigUint64Array;
  readonly #numbers: BigUint64Array;

  /** A view of notes that exist, or new ones. @param memory Another thread's; without it they are new. */
  constructor(memory = new SharedArrayBuffer(WIDTH * LENGTH)) {
    this.memory = memory;
    this.#numbers = new BigUint64Array(memory);
    this.lease = new Int32Array(memory, WIDTH * LEASE, 1);
    this.sockets = this.#numbers.subarray(SOCKETS);
    this.wait = this.#numbers.subarray(WAIT, SOCKETS);
  }

  /** The address of the thread's context. */
  get context(): bigint {
    return this.#numbers[CONTEXT];
  }

  set context(address: bigint) {
    this.#numbers[CONTEXT] = address;
  }

  /** The address of the one socket that the next thread goes on with. */
  get inherited(): bigint {
    return this.#numbers[HEIRLOOM];
  }

  set inherited(address: bigint) {
    this.#numbers[HEIRLOOM] = address;
  }

  /** Whether there is anything of libzmq's left. */
  get hasSockets(): boolean {
    return this.context !== 0n || this.inherited !== 0n || this.sockets.some((address) => address !== 0n);
  }
}

/** This isolate's. */
let own: ThreadNotes | undefined;

/** From now on this thread notes what it has in `memory`, of {@linkcode ThreadNotes.memory}, and holds the lease there. */
export function keepNotes(memory: SharedArrayBuffer): void {
  own = new ThreadNotes(memory);
  holdLease(own.lease);
}

/** This thread's notes, if it keeps any. */
export function ownNotes(): ThreadNotes | undefined {
  return own;
}
