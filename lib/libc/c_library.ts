/**
 * Opens the system's C library for the files of this room, each with its own functions.
 * @module
 */

import { type ForeignFunctions, type ForeignSymbols, openLibrary } from "./foreign_library.ts";

const NAME = Deno.build.os === "darwin" ? "libSystem.B.dylib" : "libc.so.6";

/**
 * Returns a function that opens the C library with `symbols` at its first call; it stays open for the life of the
 * isolate.
 * @param often As of {@linkcode openLibrary}.
 */
export function cLibrary<const S extends ForeignSymbols>(
  symbols: S,
  often: readonly (string & keyof S)[] = [],
): () => ForeignFunctions<S> {
  let library: ForeignFunctions<S> | undefined;
  return () => library ??= openLibrary(NAME, symbols, often);
}
