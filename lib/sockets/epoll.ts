/**
 * Waits for any number of descriptors with one thread, by epoll on Linux. Deno runs blocking calls, also of files, in
 * at most 32 threads per isolate: with one `poll(2)` per socket, the thirty-third would wait for another to end.
 * Without epoll (macOS) that is the case.
 *
 * Such a call continues when its JavaScript thread is dead, and with it the epoll instance and what Deno keeps open for
 * the thread. Therefore a thread with notes records it, and the thread that outlives it ends the call (not on macOS).
 * Source: epoll(7), eventfd(2); measured.
 * @module
 */

import { freeMemory, nativeBytes, ReadWait } from "#lib/libc/libc.ts";
import { type EpollCalls, epollCalls } from "#lib/libc/epoll.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { DescriptorWait } from "./wait.ts";
import { withLease } from "#lib/runtime/thread_lease.ts";
import { ownNotes, type ThreadNotes, WAIT_NOTES } from "#lib/runtime/thread_notes.ts";

const EPOLLIN = 0x1;
const EPOLLONESHOT = 0x4000_0000;
const EPOLL_CTL_ADD = 1;
const EPOLL_CTL_DEL = 2;
const EPOLL_CTL_MOD = 3;

/** Layout of `struct epoll_event`: events, then 8 bytes of our data; packed only on x86-64. */
const DATA_AT = Deno.build.arch === "x86_64" ? 4 : 8;
const EVENT_BYTES = DATA_AT + 8;
/** Maximum number of events of one call. */
const EVENTS = 512;
const LITTLE = true;

interface Waiter {
  readonly resolve: () => void;
  readonly deadline: number;
}

/** Interval and maximum time for the end of a dead thread's wait, in milliseconds; normally it ends at once. */
const LOOK_MS = 5, END_MS = 10_000;

let calls: EpollCalls | undefined;
let shared: Epoll | undefined;

/** This isolate's epoll calls; undefined if the system has none. */
function ownCalls(): EpollCalls | undefined {
  return calls ??= epollCalls(EVENT_BYTES, EVENTS);
}

/**
 * Makes a wait for the descriptor `fd`, which is not closed by it.
 * @throws {LibcError} If too many files are open.
 */
export function waitForDescriptor(fd: number): DescriptorWait {
  const calls = ownCalls();
  if (calls === undefined) return new ReadWait(fd);
  shared ??= new Epoll(calls);
  return shared.add(fd);
}

/**
 * Ends the wait of a thread whose lease is revoked and free, and closes its epoll objects.
 * @returns False if the wait did not return within ten seconds: then its objects stay open, as it may still use them.
 */
export async function closeWaitOf({ wait }: ThreadNotes): Promise<boolean> {
  const [epollFd, wakeFd, events, waiting] = wait;
  const calls = ownCalls();
  if (epollFd === 0n || calls === undefined) return true;
  wait.fill(0n);
  if (waiting !== 0n) {
    // A call that has not begun returns too, because nobody resets this counter. Only afterwards may the descriptor
    // numbers be reused.
    calls.setEvent(Number(wakeFd));
    const end = performance.now() + END_MS;
    for (const happened = nativeBytes(events, DATA_AT); happened.every((byte) => byte === 0);) {
      if (performance.now() > end) return false;
      await sleep(LOOK_MS);
    }
    // Its first event is there, and it may still write others. It holds the instance's lock until the last one: this
    // call waits for that.
    calls.control(Number(epollFd), EPOLL_CTL_MOD, Number(wakeFd), eventOf(Number(wakeFd), 0));
  }
  for (const fd of [epollFd, wakeFd]) calls.close(Number(fd));
  freeMemory(events);
  return true;
}

/** A `struct epoll_event` of the descriptor. */
function eventOf(fd: number, events: number): Uint8Array<ArrayBuffer> {
  const event = new Uint8Array(EVENT_BYTES);
  const view = new DataView(event.buffer);
  view.setUint32(0, events, LITTLE);
  view.setInt32(DATA_AT, fd, LITTLE);
  return event;
}

/** One epoll instance, open while it has descriptors, with its waiters. */
class Epoll {
  readonly #calls: EpollCalls;
  #fd = -1;
  #wakeFd = -1;
  #members = 0;
  readonly #waiters = new Map<number, Waiter>();
  /** Descriptors of waiters with a deadline. There are few: most wait without a limit. */
  readonly #timed = new Set<number>();
  /** Waiters whose descriptor was closed. */
  readonly #closedWaiters: Waiter[] = [];
  #serving = false;
  #wakesAt = Infinity;

  constructor(calls: EpollCalls) {
    this.#calls = calls;
  }

  add(fd: number): DescriptorWait {
    withLease(() => {
      if (this.#fd < 0) this.#open();
      this.#control(EPOLL_CTL_ADD, fd, 0);
      this.#members++;
    });
    let closed = false;
    return {
      wait: (timeoutMs) => closed ? Promise.resolve() : this.#wait(fd, timeoutMs),
      close: () => {
        if (closed) return;
        closed = true;
        withLease(() => this.#remove(fd));
      },
    };
  }

  #open(): void {
    this.#wakeFd = this.#calls.createEvent();
    this.#fd = this.#calls.create();
    this.#control(EPOLL_CTL_ADD, this.#wakeFd, EPOLLIN);
    ownNotes()?.wait.set([this.#fd, this.#wakeFd, this.#calls.eventsAddress, 0].map(BigInt));
  }

  #control(operation: number, fd: number, events: number): void {
    this.#calls.control(this.#fd, operation, fd, eventOf(fd, events));
  }

  #wait(fd: number, timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const deadline = timeoutMs < 0 ? Infinity : performance.now() + timeoutMs;
    withLease(() => {
      this.#waiters.set(fd, { resolve, deadline });
      if (deadline !== Infinity) this.#timed.add(fd);
      // Also takes effect for a running epoll_wait.
      this.#control(EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLONESHOT);
      if (!this.#serving) void this.#serve();
      else if (deadline < this.#wakesAt) this.#calls.setEvent(this.#wakeFd);
    });
    return promise;
  }

  #remove(fd: number): void {
    this.#control(EPOLL_CTL_DEL, fd, 0);
    this.#members--;
    const waiter = this.#waiters.get(fd);
    this.#waiters.delete(fd);
    this.#timed.delete(fd);
    // The waiter is told when the running call has ended, so that no call is left behind.
    if (waiter !== undefined) this.#closedWaiters.push(waiter);
    if (this.#serving) this.#calls.setEvent(this.#wakeFd);
    else if (this.#members === 0) this.#close();
  }

  #close(): void {
    ownNotes()?.wait.fill(0n);
    this.#calls.close(this.#fd);
    this.#calls.close(this.#wakeFd);
    this.#fd = this.#wakeFd = -1;
  }

  #release(fd: number): void {
    this.#timed.delete(fd);
    const waiter = this.#waiters.get(fd);
    this.#waiters.delete(fd);
    waiter?.resolve();
  }

  async #serve(): Promise<void> {
    this.#serving = true;
    while (this.#waiters.size > 0 || this.#closedWaiters.length > 0) {
      const count = await withLease(() => this.#beginWait());
      withLease(() => this.#endWait(count));
    }
    this.#serving = false;
    if (this.#members === 0) withLease(() => this.#close());
  }

  /** @returns Number of events; negative on a signal. */
  #beginWait(): Promise<number> {
    this.#wakesAt = Infinity;
    for (const fd of this.#timed) {
      this.#wakesAt = Math.min(this.#wakesAt, this.#waiters.get(fd)?.deadline ?? Infinity);
    }
    const waitMs = this.#wakesAt === Infinity ? -1 : Math.max(0, Math.ceil(this.#wakesAt - performance.now()));
    const notes = ownNotes();
    if (notes !== undefined) {
      this.#calls.events.fill(0, 0, DATA_AT); // what is there afterwards comes from this call
      notes.wait[WAIT_NOTES.waiting] = 1n;
    }
    return this.#calls.wait(this.#fd, Math.min(waitMs, 0x7fffffff));
  }

  #endWait(count: number): void {
    const notes = ownNotes();
    if (notes !== undefined) notes.wait[WAIT_NOTES.waiting] = 0n;
    const view = new DataView(this.#calls.events.buffer);
    for (let i = 0; i < count; i++) {
      const fd = view.getInt32(i * EVENT_BYTES + DATA_AT, LITTLE);
      if (fd === this.#wakeFd) this.#calls.resetEvent(fd);
      else this.#release(fd);
    }
    const now = performance.now();
    for (const fd of [...this.#timed]) if ((this.#waiters.get(fd)?.deadline ?? 0) <= now) this.#release(fd);
    for (const waiter of this.#closedWaiters.splice(0)) waiter.resolve();
  }
}
