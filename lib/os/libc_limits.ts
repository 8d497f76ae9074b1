/**
 * Limits that the kernel holds another process of ours to. Linux alone has the call; elsewhere nothing is limited by it.
 * Source: prlimit(2), getrlimit(2).
 * @module
 */

import { cLibrary } from "./c_library.ts";
import { LibcError } from "../errors.ts";

const libc = cLibrary(
  { prlimit: { parameters: ["i32", "i32", "buffer", "pointer"], result: "i32", optional: true } } as const,
);

/** What is limited, in bytes. */
export interface Limits {
  /** A file that is written. */
  readonly fileSize?: number;
  /** Memory that can be written to. */
  readonly data?: number;
  /** A core dump. */
  readonly core?: number;
}

/** The numbers of the limits on Linux. */
const RESOURCES: Readonly<Record<keyof Limits, number>> = { fileSize: 1, data: 2, core: 4 };

/** Limits process `pid`, for good. @throws {LibcError} Without the right to do so, or if it is gone. */
export function limitProcess(pid: number, limits: Limits): void {
  if (Deno.build.os !== "linux") return;
  for (const resource of ["fileSize", "data", "core"] as const) {
    const bytes = limits[resource];
    if (bytes === undefined) continue;
    const both = new BigUint64Array(2).fill(BigInt(bytes)); // the soft limit and the hard one
    if (libc().prlimit?.(pid, RESOURCES[resource], new Uint8Array(both.buffer), null) !== 0) {
      throw new LibcError("prlimit");
    }
  }
}
