/**
 * The clock of the host's boot, which counts while the host sleeps and which nobody can set. Only on Linux.
 * Source: the Linux manual page clock_gettime(2), CLOCK_BOOTTIME.
 * @module
 */

import { cLibrary } from "./c_library.ts";
import { check } from "./libc.ts";

const SYMBOLS = { clock_gettime: { parameters: ["i32", "buffer"], result: "i32" } } as const;

// For each job that is published.
const libc = cLibrary(SYMBOLS, ["clock_gettime"]);

const CLOCK_BOOTTIME = 7;

/** A `struct timespec` of longs: seconds, nanoseconds. */
const time = new BigInt64Array(2);

/**
 * Whole milliseconds since the host's boot; `undefined` if the system is not Linux.
 * @throws {LibcError} If the kernel does not have the clock.
 */
export function bootMs(): number | undefined {
  if (Deno.build.os !== "linux") return undefined;
  check("clock_gettime", libc().clock_gettime(CLOCK_BOOTTIME, time));
  return Number(time[0]) * 1000 + Math.floor(Number(time[1]) / 1e6);
}
