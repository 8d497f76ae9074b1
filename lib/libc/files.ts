/**
 * Reads and tests files with the C library, where the runtime makes more system calls and, for each missing file, an
 * error that takes 0.1 ms. Separate from libc.ts because Deno takes 0.05 ms for each function of a library that is
 * opened. Only for threads that may use FFI.
 * Source: POSIX.1-2024.
 * @module
 */

import { cLibrary } from "./c_library.ts";

const SYMBOLS = {
  open: { parameters: ["buffer", "i32"], result: "i32" },
  read: { parameters: ["i32", "buffer", "usize"], result: "isize" },
  close: { parameters: ["i32"], result: "i32" },
  access: { parameters: ["buffer", "i32"], result: "i32" },
} as const;

const libc = cLibrary(SYMBOLS, ["open", "read", "close", "access"]);

const O_RDONLY = 0;
/** Child processes of jobs do not inherit the descriptor. */
const O_CLOEXEC = Deno.build.os === "darwin" ? 0x1000000 : 0o2000000;

const path = new Uint8Array(4096);
const utf8 = new TextEncoder();

/**
 * Writes `name` to the memory that the calls read.
 * @returns False if it is longer than any path, or has a NUL, at which the path would end.
 */
function setPath(name: string): boolean {
  const { read, written } = utf8.encodeInto(name, path);
  if (read < name.length || written === path.length || name.includes("\0")) return false;
  path[written] = 0;
  return true;
}

const X_OK = 1;

/** Whether this process may execute the file `name`. */
export function mayExecute(name: string): boolean {
  return mayAccess(name, X_OK);
}

/**
 * Whether this process may use the file `name` so: the sum of 4 to read, 2 to write and 1 to execute, or 0 if it need
 * only be there.
 */
export function mayAccess(name: string, mode: number): boolean {
  return setPath(name) && libc().access(path, mode) === 0;
}

/**
 * Reads the first bytes of the file `name` into `memory`.
 * @returns Number of bytes; negative if the file cannot be read.
 */
export function readFileInto(name: string, memory: Uint8Array<ArrayBuffer>): number {
  if (!setPath(name)) return -1;
  const fd = libc().open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  const length = Number(libc().read(fd, memory, BigInt(memory.length)));
  libc().close(fd);
  return length;
}
