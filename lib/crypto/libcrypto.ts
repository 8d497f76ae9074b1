/**
 * Opens the system's OpenSSL (libcrypto) through FFI. If there is none (macOS, a minimal container), callers use other
 * code.
 * Source: crypto(7).
 * @module
 */

import { type ForeignFunctions, type ForeignSymbols, openLibrary } from "#lib/libc/foreign_library.ts";

/** Versions in which the functions used here are the same. */
const FILES = ["libcrypto.so.3", "libcrypto.so.1.1"];

/** Opens libcrypto with `symbols` for the life of the thread; `null` if there is none that has all of them. */
export function openLibcrypto<const Symbols extends ForeignSymbols>(
  symbols: Symbols,
  often: readonly (string & keyof Symbols)[] = [],
): ForeignFunctions<Symbols> | null {
  if (Deno.build.os !== "linux") return null;
  for (const file of FILES) {
    try {
      return openLibrary(file, symbols, often);
    } catch {
      // Try the next version.
    }
  }
  return null;
}

/** Whether `bytes` are in memory of this thread alone, as FFI calls require. */
function isOwned(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer;
}

/** The same bytes in memory of this thread alone. */
export function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return isOwned(bytes) ? bytes : new Uint8Array(bytes);
}
