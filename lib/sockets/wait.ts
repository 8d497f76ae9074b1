/**
 * Waits for a ZeroMQ socket: one poll of its descriptor for all waiting readers and writers. The descriptor only says
 * that the events must be read, and reading them clears it: with one poll per waiter, the first to wake could consume
 * the event of another. Knows neither sockets nor messages.
 * Source: zmq_getsockopt(3), ZMQ_FD and ZMQ_EVENTS.
 * @module
 */

import { clearTimeout, setTimeout } from "#lib/os/timers.ts";

/** Waits until one descriptor is readable. */
export interface DescriptorWait {
  /** Resolves when it is readable, after `timeoutMs` (negative: never), or early for no reason. */
  wait(timeoutMs: number): Promise<void>;
  /** Ends every wait, now and later. */
  close(): void;
}

interface Waiter {
  readonly deadline: number;
  ready(): boolean;
  resolve(ready: boolean): void;
}

/** All waits on one socket. */
export class SocketWait {
  readonly #descriptor: DescriptorWait;
  readonly #waiters = new Set<Waiter>();
  /** End of the running poll (`performance.now()`); negative: no poll is running. */
  #pollEnd = -1;
  #closed = false;

  /** @param descriptor Waits for the socket's descriptor; {@linkcode close} closes it. */
  constructor(descriptor: DescriptorWait) {
    this.#descriptor = descriptor;
  }

  /**
   * Waits until `ready()`, which reads the socket's state.
   * @param deadline As `performance.now()`; `Infinity`: none.
   * @returns False at the deadline, or when closed.
   */
  async until(ready: () => boolean, deadline: number): Promise<boolean> {
    if (this.#closed) return false;
    this.look();
    if (ready()) return true;
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter: Waiter = { ready, deadline, resolve };
    this.#waiters.add(waiter);
    // The running poll may be longer than this wait.
    const late = deadline < this.#pollEnd ? setTimeout(() => resolve(false), Math.ceil(leftMs)) : undefined;
    if (this.#pollEnd < 0) void this.#poll();
    const is = await promise;
    clearTimeout(late);
    this.#waiters.delete(waiter);
    return is;
  }

  async #poll(): Promise<void> {
    while (this.#waiters.size > 0 && !this.#closed) {
      this.#pollEnd = Math.min(...Array.from(this.#waiters, ({ deadline }) => deadline));
      await this.#descriptor.wait(this.#pollEnd === Infinity ? -1 : Math.max(0, this.#pollEnd - performance.now()));
      this.look();
      const now = performance.now();
      for (const waiter of this.#waiters) if (this.#closed || waiter.deadline <= now) this.#end(waiter, false);
    }
    this.#pollEnd = -1;
  }

  #end(waiter: Waiter, ready: boolean): void {
    this.#waiters.delete(waiter);
    waiter.resolve(ready);
  }

  /**
   * Checks all waiters. Call it after every wake-up and every other call of libzmq: reading the socket's events makes
   * libzmq process its commands and clears the descriptor, so the other waiters would not be woken.
   */
  look(): void {
    if (this.#closed) return;
    for (const waiter of this.#waiters) if (waiter.ready()) this.#end(waiter, true);
  }

  /** Ends every wait, now and later. May be called twice. */
  close(): void {
    this.#closed = true;
    this.#descriptor.close();
  }
}
