/**
 * Reads thousands of small files one after the other into the same memory, with three system calls each. The runtime
 * makes five, and allocates memory that must be collected. Also says which files are missing, without the runtime's
 * error. Only for threads that may use FFI.
 * @module
 */

import { readFileIfExists } from "./atomic_file.ts";
import { mayAccess, readFileInto } from "#lib/libc/files.ts";

/** Larger files are read by the runtime. */
const CAPACITY = 16 * 1024;

/** Reads one file at a time. */
export class SmallFiles {
  readonly #memory = new Uint8Array(CAPACITY);

  /**
   * The bytes of the file `path`, valid until the next call; `undefined` if there is no such file.
   * @throws What `Deno.readFileSync` throws.
   */
  read(path: string): Uint8Array | undefined {
    const length = readFileInto(path, this.#memory);
    // The runtime reads larger files, and finds out why a file cannot be read.
    return length >= 0 && length < CAPACITY ? this.#memory.subarray(0, length) : readFileIfExists(path);
  }
}

const F_OK = 0, X_OK = 1;

/**
 * Whether the file `path` is known to be missing, for paths where mostly nothing is: two system calls, where the
 * runtime makes an error that takes 0.1 ms. False if it is there, or if that cannot be known: then the runtime's call
 * says more.
 */
export function isMissing(path: string): boolean {
  if (mayAccess(path, F_OK)) return false;
  const slash = path.lastIndexOf("/");
  const directory = slash > 0 ? path.slice(0, slash) : slash === 0 ? "/" : ".";
  // Nothing can be said of a directory that this process may not search, or that is missing itself.
  return mayAccess(directory, X_OK);
}
