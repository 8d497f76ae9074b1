/**
 * Waiting for many descriptors with epoll(7) and eventfd(2). Separate from libc.ts because every thread with a socket
 * needs these and few need the others: Deno takes 0.1 ms for each function of a library that is opened.
 * Source: the Linux manual pages.
 * @module
 */

import { cLibrary } from "./c_library.ts";
import { check, nativeMemory } from "./libc.ts";

const SYMBOLS = {
  calloc: { parameters: ["usize", "usize"], result: "pointer" },
  close: { parameters: ["i32"], result: "i32" },
  // Only on Linux.
  epoll_create1: { parameters: ["i32"], result: "i32", optional: true },
  epoll_ctl: { parameters: ["i32", "i32", "i32", "buffer"], result: "i32", optional: true },
  epoll_wait: { parameters: ["i32", "pointer", "i32", "i32"], result: "i32", nonblocking: true, optional: true },
  eventfd: { parameters: ["u32", "i32"], result: "i32", optional: true },
  eventfd_read: { parameters: ["i32", "buffer"], result: "i32", optional: true },
  eventfd_write: { parameters: ["i32", "u64"], result: "i32", optional: true },
} as const;

const libc = cLibrary(SYMBOLS, ["epoll_ctl", "eventfd_read", "eventfd_write"]);

/** Child processes of jobs do not inherit the descriptor. */
const O_CLOEXEC = 0o2000000;

/** The calls of epoll(7) and eventfd(2) that are used. Only {@linkcode EpollCalls.wait} blocks, in another thread. */
export interface EpollCalls {
  /** Creates an instance; child processes do not inherit it. */
  create(): number;
  /** `op` is one of `EPOLL_CTL_…`, `event` a `struct epoll_event`. */
  control(epollFd: number, op: number, fd: number, event: Uint8Array): void;
  /** The `struct epoll_event`s of the last {@linkcode EpollCalls.wait}. */
  readonly events: Uint8Array<ArrayBuffer>;
  /** Address of the events; the memory stays valid when the thread has ended. */
  readonly eventsAddress: bigint;
  /**
   * Fills {@linkcode EpollCalls.events}.
   * @returns Number of events; 0 at the time-out in milliseconds, negative on a signal.
   */
  wait(epollFd: number, timeoutMs: number): Promise<number>;
  /** Creates an eventfd, which is readable while its counter is not 0; child processes do not inherit it. */
  createEvent(): number;
  /** Sets the counter to 0. */
  resetEvent(fd: number): void;
  /** Adds 1 to the counter. */
  setEvent(fd: number): void;
  /** Closes an instance or a counter. */
  close(fd: number): void;
}

const EFD_NONBLOCK = 0o4000;

/**
 * The calls; `undefined` except on Linux.
 * @param eventBytes Size of an event.
 * @param count Maximum number of events.
 */
export function epollCalls(eventBytes: number, count: number): EpollCalls | undefined {
  const { calloc, epoll_create1, epoll_ctl, epoll_wait, eventfd, eventfd_read, eventfd_write, close } = libc();
  if (!epoll_create1 || !epoll_ctl || !epoll_wait || !eventfd || !eventfd_read || !eventfd_write) return undefined;
  const events = nativeMemory(eventBytes * count, calloc);
  return {
    events: events.bytes,
    eventsAddress: Deno.UnsafePointer.value(events.pointer),
    create() {
      const fd = epoll_create1(O_CLOEXEC);
      check("epoll_create1", fd);
      return fd;
    },
    control: (epollFd, op, fd, event) => check("epoll_ctl", epoll_ctl(epollFd, op, fd, event)),
    wait: (epollFd, timeoutMs) => epoll_wait(epollFd, events.pointer, count, timeoutMs),
    createEvent() {
      const fd = eventfd(0, O_CLOEXEC | EFD_NONBLOCK);
      check("eventfd", fd);
      return fd;
    },
    resetEvent: (fd) => void eventfd_read(fd, new Uint8Array(8)),
    setEvent: (fd) => check("eventfd_write", eventfd_write(fd, 1n)),
    close: (fd) => void close(fd),
  };
}
