/**
 * Reads thousands of small files one after the other into the same memory, with three system calls each. The runtime
 * makes five, and allocates memory that must be collected.
 * @module
 */

import { readFileIfExists } from "./atomic_file.ts";
import { readFileInto } from "#lib/libc/files.ts";

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
