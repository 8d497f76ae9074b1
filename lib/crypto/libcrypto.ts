/**
 * The system's OpenSSL, where there is one: functions of its libcrypto through FFI. Without it (macOS, a minimal container)
 * whoever asks does without. Source: crypto(7).
 * @module
 */

/** Versions in which the functions that are used here are the same. */
const FILES = ["libcrypto.so.3", "libcrypto.so.1.1"];

/** The functions of `symbols`, for the life of the thread; `null` without an OpenSSL that has them all. */
export function openLibcrypto<const Symbols extends Deno.ForeignLibraryInterface>(
  symbols: Symbols,
): Deno.DynamicLibrary<Symbols>["symbols"] | null {
  if (Deno.build.os !== "linux") return null;
  for (const file of FILES) {
    try {
      return Deno.dlopen(file, symbols).symbols;
    } catch {
      // Not this version: the next one, or none.
    }
  }
  return null;
}

/** Whether `bytes` are in memory of this thread alone, as a call wants them. */
function isOwned(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer;
}

/** The same bytes in memory of this thread alone. */
export function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return isOwned(bytes) ? bytes : new Uint8Array(bytes);
}
