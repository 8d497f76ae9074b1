/**
 * Libraries whose functions are called through FFI, and that cost little to open. When Deno opens a library it compiles a caller for each
 * function: 0.15 ms each, and several times that on a busy machine; a minion's start had 60 of them, most for one call. Called by its address a
 * function needs no caller, and each call takes 2 µs.
 * @module
 */

/** The functions of a library that was opened with these symbols. */
export type ForeignFunctions<S extends Deno.ForeignLibraryInterface> = Deno.DynamicLibrary<S>["symbols"];

/** The address of any function. */
type Address = Deno.PointerObject<Omit<Deno.ForeignFunction, "nonblocking">>;

/**
 * Opens the library `file`, for the life of the isolate.
 * @param often The functions that are called so often that compiling pays: some hundred times a second.
 * @throws {Error} If it cannot be loaded, or has not all of `symbols` except optional ones.
 */
export function openLibrary<const S extends Deno.ForeignLibraryInterface>(
  file: string | URL,
  symbols: S,
  often: readonly (string & keyof S)[],
): ForeignFunctions<S> {
  const compiled = new Set<string>(often);
  const asked = Object.entries(symbols).map(([name, symbol]) =>
    [name, compiled.has(name) ? symbol : { type: "pointer", optional: symbol.optional } as const] as const
  );
  const functions: Record<string, unknown> = { ...Deno.dlopen(file, Object.fromEntries(asked)).symbols };
  for (const [name, symbol] of Object.entries(symbols)) {
    if ("type" in symbol) throw new TypeError(`${name} is no function`);
    if (compiled.has(name) || functions[name] === null) continue;
    const byAddress = new Deno.UnsafeFnPointer(functions[name] as Address, symbol);
    const call = byAddress.call.bind(byAddress);
    // Called by its address, a function without a result returns null; compiled, it returns nothing.
    functions[name] = symbol.result === "void" ? (...args: Parameters<typeof call>) => void call(...args) : call;
  }
  return functions as ForeignFunctions<S>;
}
