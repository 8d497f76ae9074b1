/**
 * Opens the system's C library for libc.ts and libc_*.ts, each with its own functions.
 * @module
 */

const NAME = Deno.build.os === "darwin" ? "libSystem.B.dylib" : "libc.so.6";

/**
 * Returns a function that opens the C library with `symbols` at its first call; it stays open for the life of the
 * isolate. Deno takes 0.1 ms for each function, so nothing is opened at import.
 */
export function cLibrary<const S extends Deno.ForeignLibraryInterface>(
  symbols: S,
): () => Deno.DynamicLibrary<S>["symbols"] {
  let library: Deno.DynamicLibrary<S> | undefined;
  return () => (library ??= Deno.dlopen(NAME, symbols)).symbols;
}
