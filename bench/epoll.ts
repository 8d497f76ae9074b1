/**
 * Waiting for thousands of descriptors with one thread: Linux's epoll in place of a parked `poll(2)` each.
 *
 * Measured against that, through lib/sockets.ts: one socket is served as fast, 200 half as fast again.
 * Source: epoll(7), eventfd(2).
 * @module
 */

import type { DescriptorWait } from "../lib/sockets.ts";

const libc = Deno.dlopen("libc.so.6", {
  epoll_create1: { parameters: ["i32"], result: "i32" },
  epoll_ctl: { parameters: ["i32", "i32", "i32", "buffer"], result: "i32" },
  epoll_wait: { parameters: ["i32", "buffer", "i32", "i32"], result: "i32", nonblocking: true },
  eventfd: { parameters: ["u32", "i32"], result: "i32" },
  eventfd_read: { parameters: ["i32", "buffer"], result: "i32" },
  eventfd_write: { parameters: ["i32", "u64"], result: "i32" },
}).symbols;

const EPOLLIN = 0x1;
const EPOLLONESHOT = 0x4000_0000;
const EPOLL_CTL_ADD = 1;
const EPOLL_CTL_DEL = 2;
const EPOLL_CTL_MOD = 3;
const EFD_NONBLOCK = 0o4000;

/** A `struct epoll_event`: events, then 8 bytes of our own; packed on x86-64 alone. */
const DATA_AT = Deno.build.arch === "x86_64" ? 4 : 8;
const EVENT_BYTES = DATA_AT + 8;
/** How many events one call brings at most. */
const EVENTS = 512;
const LITTLE = true;

interface Waiter {
  readonly resolve: () => void;
  readonly deadline: number;
}

/** One epoll instance, and whoever waits on it. */
export class Epoll {
  readonly #fd = libc.epoll_create1(0);
  readonly #wakeFd = libc.eventfd(0, EFD_NONBLOCK);
  readonly #waiters = new Map<number, Waiter>();
  /** Descriptors of waiters with a deadline; few, where most wait without end. */
  readonly #timed = new Set<number>();
  readonly #events = new Uint8Array(EVENTS * EVENT_BYTES);
  readonly #event = new Uint8Array(EVENT_BYTES);
  #waiting = false;
  #wakesAt = Infinity;

  /** Opens it; it waits for nothing yet. @throws {Error} If too many files are open. */
  constructor() {
    if (this.#fd < 0 || this.#wakeFd < 0) throw new Error("no epoll: too many open files?");
    this.#control(EPOLL_CTL_ADD, this.#wakeFd, EPOLLIN);
  }

  /** A wait for `fd`, as {@linkcode prepareManySockets} wants it. */
  add(fd: number): DescriptorWait {
    this.#control(EPOLL_CTL_ADD, fd, 0);
    let closed = false;
    return {
      wait: (timeoutMs) => closed ? Promise.resolve() : this.#wait(fd, timeoutMs),
      close: () => {
        if (closed) return;
        closed = true;
        this.#control(EPOLL_CTL_DEL, fd, 0);
        this.#release(fd);
        if (this.#waiters.size === 0) this.#wake();
      },
    };
  }

  #control(operation: number, fd: number, events: number): void {
    const view = new DataView(this.#event.buffer);
    view.setUint32(0, events, LITTLE);
    view.setInt32(DATA_AT, fd, LITTLE);
    if (libc.epoll_ctl(this.#fd, operation, fd, this.#event) !== 0) throw new Error(`epoll_ctl failed for ${fd}`);
  }

  #wait(fd: number, timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const deadline = timeoutMs < 0 ? Infinity : performance.now() + timeoutMs;
    this.#waiters.set(fd, { resolve, deadline });
    if (deadline !== Infinity) this.#timed.add(fd);
    // Reaches a call of epoll_wait that is under way as well.
    this.#control(EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLONESHOT);
    if (!this.#waiting) void this.#serve();
    else if (deadline < this.#wakesAt) this.#wake();
    return promise;
  }

  #release(fd: number): void {
    this.#timed.delete(fd);
    const waiter = this.#waiters.get(fd);
    this.#waiters.delete(fd);
    waiter?.resolve();
  }

  #wake(): void {
    if (this.#waiting) libc.eventfd_write(this.#wakeFd, 1n);
  }

  async #serve(): Promise<void> {
    this.#waiting = true;
    const view = new DataView(this.#events.buffer);
    while (this.#waiters.size > 0) {
      this.#wakesAt = Infinity;
      for (const fd of this.#timed) {
        this.#wakesAt = Math.min(this.#wakesAt, this.#waiters.get(fd)?.deadline ?? Infinity);
      }
      const timeout = this.#wakesAt === Infinity ? -1 : Math.max(0, Math.ceil(this.#wakesAt - performance.now()));
      const count = await libc.epoll_wait(this.#fd, this.#events, EVENTS, timeout);
      for (let i = 0; i < count; i++) {
        const fd = view.getInt32(i * EVENT_BYTES + DATA_AT, LITTLE);
        if (fd === this.#wakeFd) libc.eventfd_read(fd, new Uint8Array(8));
        else this.#release(fd);
      }
      const now = performance.now();
      for (const fd of [...this.#timed]) if ((this.#waiters.get(fd)?.deadline ?? 0) <= now) this.#release(fd);
    }
    this.#waiting = false;
  }
}
