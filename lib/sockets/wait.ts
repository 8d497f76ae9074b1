/**
 * Waiting for a ZeroMQ socket: one poll of its descriptor for all who wait to read or to write.
 *
 * The descriptor only says "ask again", and asking eats what it said: were there a poll for each wait, whoever wakes first
 * could eat what another was to wake for. Knows neither sockets nor messages, only whom to ask.
 * Source: zmq_getsockopt(3), ZMQ_FD and ZMQ_EVENTS.
 * @module
 */

/** Waits until one descriptor can be read. */
export interface DescriptorWait {
  /** Resolves when it can be read, after `timeoutMs` (negative: never), or early for no reason. */
  wait(timeoutMs: number): Promise<void>;
  /** Ends every wait, now and later. */
  close(): void;
}

interface Waiter {
  readonly deadline: number;
  ready(): boolean;
  resolve(ready: boolean): void;
}

/** The waits on one socket. */
export class SocketWait {
  readonly #descriptor: DescriptorWait;
  readonly #waiters = new Set<Waiter>();
  /** When the poll under way ends, as `performance.now()` counts; negative: there is none. */
  #pollEnd = -1;
  #closed = false;

  /** Takes what waits for the socket's descriptor, and closes it in the end. */
  constructor(descriptor: DescriptorWait) {
    this.#descriptor = descriptor;
  }

  /**
   * Waits until `ready()`, which asks the socket.
   * @param deadline As `performance.now()` counts; `Infinity`: none.
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
    // The poll under way may be longer than this wait.
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
   * Asks for everybody who waits; to be done after every wake-up and whatever else libzmq was called for. Asking is what
   * makes it work off its commands and re-arm the descriptor, which then says nothing more to the others.
   */
  look(): void {
    if (this.#closed) return;
    for (const waiter of this.#waiters) if (waiter.ready()) this.#end(waiter, true);
  }

  /** Ends every wait, now and later. Twice is fine. */
  close(): void {
    this.#closed = true;
    this.#descriptor.close();
  }
}
