/**
 * Resource limits of another process of ours. Only Linux has the call; other systems set no limit.
 * Source: prlimit(2), getrlimit(2).
 * @module
 */

import { cLibrary } from "./c_library.ts";
import { LibcError } from "#lib/errors.ts";

const libc = cLibrary(
  { prlimit: { parameters: ["i32", "i32", "buffer", "pointer"], result: "i32", optional: true } } as const,
);

/** Limits in bytes. */
export interface Limits {
  /** Size of a file that is written. */
  readonly fileSize?: number;
  /** Writable memory. */
  readonly data?: number;
  /** Size of a core dump. */
  readonly core?: number;
}

/** Linux's numbers of the limits. */
const RESOURCES: Readonly<Record<keyof Limits, number>> = { fileSize: 1, data: 2, core: 4 };

/**
 * Limits process `pid` permanently.
 * @throws {LibcError} Without permission, or if the process has ended.
 */
export function limitProcess(pid: number, limits: Limits): void {
  if (Deno.build.os !== "linux") return;
  for (const resource of ["fileSize", "data", "core"] as const) {
    const bytes = limits[resource];
    if (bytes === undefined) continue;
    const both = new BigUint64Array(2).fill(BigInt(bytes)); // soft and hard limit
    if (libc().prlimit?.(pid, RESOURCES[resource], new Uint8Array(both.buffer), null) !== 0) {
      throw new LibcError("prlimit");
    }
  }
}
