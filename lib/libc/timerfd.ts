/**
 * Timers of the wall clock: timerfd(2). Only on Linux, and only for threads that may use FFI.
 * Source: the Linux manual pages timerfd_create(2); `linux/timerfd.h`.
 * @module
 */

import { cLibrary } from "./c_library.ts";
import { check } from "./libc.ts";

const SYMBOLS = {
  timerfd_create: { parameters: ["i32", "i32"], result: "i32" },
  timerfd_settime: { parameters: ["i32", "i32", "buffer", "pointer"], result: "i32" },
  read: { parameters: ["i32", "buffer", "usize"], result: "isize" },
  close: { parameters: ["i32"], result: "i32" },
} as const;

const libc = cLibrary(SYMBOLS);

const CLOCK_REALTIME = 0;
const TFD_CLOEXEC = 0o2000000, TFD_NONBLOCK = 0o4000;
const TFD_TIMER_ABSTIME = 1, TFD_TIMER_CANCEL_ON_SET = 2;

/** Size of a `struct itimerspec`: the interval and the first moment, each in seconds and nanoseconds. */
const SPEC_BYTES = 32, SECONDS_AT = 16, NANOSECONDS_AT = 24;

/**
 * One timer of the wall clock. Its descriptor becomes readable at the moment, also while the host was asleep then, and
 * when somebody sets the clock.
 */
export class WallTimer {
  /** The descriptor, which is readable when the timer has rung. */
  readonly fd: number;
  #closed = false;

  /** @throws {LibcError} If too many files are open. */
  constructor() {
    this.fd = libc().timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    check("timerfd_create", this.fd);
  }

  /**
   * Sets it; what it was set to before does not count.
   * @param momentMs Milliseconds since the epoch; `undefined`: it does not ring.
   */
  set(momentMs: number | undefined): void {
    if (this.#closed) return;
    const spec = new DataView(new ArrayBuffer(SPEC_BYTES));
    if (momentMs !== undefined) {
      const seconds = Math.floor(momentMs / 1000);
      spec.setBigInt64(SECONDS_AT, BigInt(seconds), true);
      // Zero would switch it off.
      spec.setBigInt64(NANOSECONDS_AT, BigInt(Math.max(1, Math.round((momentMs - seconds * 1000) * 1e6))), true);
    }
    const flags = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;
    check("timerfd_settime", libc().timerfd_settime(this.fd, flags, new Uint8Array(spec.buffer), null));
  }

  /** Makes the descriptor unreadable until it rings again. */
  clear(): void {
    if (!this.#closed) libc().read(this.fd, new Uint8Array(8), 8n);
  }

  /** Closes it. May be called twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    libc().close(this.fd);
  }
}
