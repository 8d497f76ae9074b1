/**
 * Small files, thousands of them, one after the other into the same memory: by three calls to the system each, where the
 * runtime makes five, and takes memory that the collector has to find again.
 * @module
 */

import { readFileIfExists } from "./atomic_file.ts";
import { readFileInto } from "./libc_files.ts";

/** What does not fit is read by the runtime. */
const CAPACITY = 16 * 1024;

/** Reads one file at a time. */
export class SmallFiles {
  readonly #memory = new Uint8Array(CAPACITY);

  /**
   * The bytes of the file `path`, which are there until the next call; `undefined` if there is no such file.
   * @throws What `Deno.readFileSync` throws.
   */
  read(path: string): Uint8Array | undefined {
    const length = readFileInto(path, this.#memory);
    // Why it could not be read, or that it is larger, the runtime finds out.
    return length >= 0 && length < CAPACITY ? this.#memory.subarray(0, length) : readFileIfExists(path);
  }
}
