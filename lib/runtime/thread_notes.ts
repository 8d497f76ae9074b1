/**
 * A thread's notes in shared memory, for the thread that cleans up after it: its lease, its libzmq objects and its
 * descriptors. Each thread has its own notes and writes them under its lease. Knows only where each note is stored.
 * @module
 */

import { holdLease } from "./thread_lease.ts";

/** Maximum number of sockets of a thread with notes; the Publisher of a large fleet has most. */
export const MAX_SOCKETS = 96;

/** Positions of the notes, in numbers of 8 bytes. */
const LEASE = 0, CONTEXT = 1, INHERITED = 2, WAIT = 3, SOCKETS = 7, LENGTH = SOCKETS + MAX_SOCKETS;
const WIDTH = 8;

/** Positions in {@linkcode ThreadNotes.wait}. */
export const WAIT_NOTES = {
  /** The descriptor of the epoll instance. */
  epoll: 0,
  /** The descriptor of the counter that ends a wait. */
  wake: 1,
  /** The address of the memory that the system writes events to. */
  events: 2,
  /** Whether a wait is running: 1 or 0. */
  waiting: 3,
} as const;

/** One thread's notes, readable by every thread. 0 means none. */
export class ThreadNotes {
  /** Other threads make their own view of it. */
  readonly memory: SharedArrayBuffer;
  /** The word of the thread's lease. */
  readonly lease: Int32Array;
  /** Addresses of the thread's sockets. */
  readonly sockets: BigUint64Array;
  /** The thread's wait for descriptors, see {@linkcode WAIT_NOTES}. */
  readonly wait: BigUint64Array;
  readonly #numbers: BigUint64Array;

  /** @param memory The memory of another thread's notes; without it new notes are made. */
  constructor(memory = new SharedArrayBuffer(WIDTH * LENGTH)) {
    this.memory = memory;
    this.#numbers = new BigUint64Array(memory);
    this.lease = new Int32Array(memory, WIDTH * LEASE, 1);
    this.sockets = this.#numbers.subarray(SOCKETS);
    this.wait = this.#numbers.subarray(WAIT, SOCKETS);
  }

  /** The address of the thread's libzmq context. */
  get context(): bigint {
    return this.#numbers[CONTEXT];
  }

  set context(address: bigint) {
    this.#numbers[CONTEXT] = address;
  }

  /** The address of the socket that the next thread inherits. */
  get inherited(): bigint {
    return this.#numbers[INHERITED];
  }

  set inherited(address: bigint) {
    this.#numbers[INHERITED] = address;
  }

  /** Whether libzmq objects of the thread are left. */
  get hasSockets(): boolean {
    return this.context !== 0n || this.inherited !== 0n || this.sockets.some((address) => address !== 0n);
  }
}

/** The notes of this isolate. */
let own: ThreadNotes | undefined;

/** Makes this thread write its notes to `memory` ({@linkcode ThreadNotes.memory}) and hold the lease there. */
export function keepNotes(memory: SharedArrayBuffer): void {
  own = new ThreadNotes(memory);
  holdLease(own.lease);
}

/** This thread's notes, if it keeps any. */
export function ownNotes(): ThreadNotes | undefined {
  return own;
}
