/**
 * Limits that the kernel holds another process of ours to. Linux alone has the call; elsewhere nothing is limited by it.
 * Source: prlimit(2), getrlimit(2).
 * @module
 */

import { cLibrary } from "./c_library.ts";
import { LibcError } from "./errors.ts";

const libc = cLibrary(
  { prlimit: { parameters: ["i32", "i32", "buffer", "pointer"], result: "i32", optional: true } } as const,
);

/** The numbers of the limits on Linux. */
const RESOURCES = { fileSize: 1, data: 2, core: 4 } as const;

/** What is limited: bytes of a file that is written, of memory that can be written, of a core dump. */
export type Limits = Readonly<Partial<Record<keyof typeof RESOURCES, number>>>;

/** Limits process `pid`, for good. @throws {LibcError} Without the right to do so, or if it is gone. */
export function limitProcess(pid: number, limits: Limits): void {
  if (Deno.build.os !== "linux") return;
  for (const [resource, bytes] of Object.entries(limits)) {
    const both = new BigUint64Array(2).fill(BigInt(bytes));
    const number = RESOURCES[resource as keyof typeof RESOURCES];
    if (libc().prlimit?.(pid, number, new Uint8Array(both.buffer), null) !== 0) throw new LibcError("prlimit");
  }
}
