/**
 * Opens the system's C library, for the files that call it (libc.ts and libc_*.ts), each with functions of its own.
 * @module
 */

const NAME = Deno.build.os === "darwin" ? "libSystem.B.dylib" : "libc.so.6";

/**
 * What gives these functions of the C library. It is opened when they are first asked for, and stays open for the life of the
 * isolate: Deno takes 0.1 ms for each function, so nothing is opened at import.
 */
export function cLibrary<const S extends Deno.ForeignLibraryInterface>(
  symbols: S,
): () => Deno.DynamicLibrary<S>["symbols"] {
  let library: Deno.DynamicLibrary<S> | undefined;
  return () => (library ??= Deno.dlopen(NAME, symbols)).symbols;
}
