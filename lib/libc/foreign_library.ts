/**
 * Libraries whose functions are called through FFI, and that cost little to open. When Deno opens a library it compiles
 * a caller for each function: 0.15 ms each, and several times that on a busy machine; a minion's start had 60 of them,
 * most for one call. Called by its address a function needs no caller, and each call takes 2 µs. So a function that is
 * called often gets its caller when it has been: commands call few of them more than ten times.
 * @module
 */

/** Functions of a library by their names, with the types of their parameters and results. */
export type ForeignSymbols = Readonly<Record<string, Deno.ForeignFunction>>;

/** The functions of a library that was opened with these symbols. */
export type ForeignFunctions<S extends ForeignSymbols> = Deno.DynamicLibrary<S>["symbols"];

/** The address of any function. */
type Address = Deno.PointerObject<Omit<Deno.ForeignFunction, "nonblocking">>;

/** After so many calls compiling has cost less than they. */
const MANY_CALLS = 64;

/**
 * Opens the library `file`, for the life of the isolate.
 * @param often The functions that may be called so often that compiling pays: some hundred times a second.
 * @throws {Error} If it cannot be loaded, or has not all of `symbols` except optional ones.
 */
export function openLibrary<const S extends ForeignSymbols>(
  file: string | URL,
  symbols: S,
  often: readonly (string & keyof S)[],
): ForeignFunctions<S> {
  const definitions = Object.entries(symbols).map(([name, { optional }]) =>
    [name, { type: "pointer", optional }] as const
  );
  const functions: Record<string, unknown> = { ...Deno.dlopen(file, Object.fromEntries(definitions)).symbols };
  for (const [name, symbol] of Object.entries(symbols)) {
    if (functions[name] === null) continue;
    const byAddress = new Deno.UnsafeFnPointer(functions[name] as Address, symbol);
    const call = byAddress.call.bind(byAddress);
    // Called by its address, a function without a result returns null; compiled, it returns nothing.
    functions[name] = symbol.result === "void" ? (...args: Parameters<typeof call>) => void call(...args) : call;
  }
  for (const name of often) {
    if (functions[name] === null) continue;
    let current = functions[name] as (...args: unknown[]) => unknown;
    let calls = 0;
    functions[name] = (...args: unknown[]) => {
      if (++calls === MANY_CALLS) {
        const { symbols: compiled } = Deno.dlopen(file, { [name]: symbols[name] });
        current = functions[name] = compiled[name] as typeof current;
      }
      return current(...args);
    };
  }
  return functions as ForeignFunctions<S>;
}

/** The dynamic linker's own function: in the C library, or beside an old one. */
const LINKERS = Deno.build.os === "darwin" ? ["libSystem.B.dylib"] : ["libc.so.6", "libdl.so.2"];
const LINKER_SYMBOLS = { dlopen: { parameters: ["buffer", "i32"], result: "pointer" } } as const;
/** RTLD_NOW and RTLD_NODELETE. */
const FOR_GOOD = 0x2 | (Deno.build.os === "darwin" ? 0x80 : 0x1000);

/**
 * Keeps the library `file`, which is open, for the life of the process. Deno closes a thread's libraries when the
 * thread ends: a call that is still in one, on another thread, would crash the process. Source: dlopen(3).
 */
export function keepLoaded(file: string): void {
  let reason: unknown;
  for (const linker of LINKERS) {
    try {
      const { symbols } = Deno.dlopen(linker, LINKER_SYMBOLS);
      if (symbols.dlopen(new TextEncoder().encode(`${file}\0`), FOR_GOOD) !== null) return;
      throw new Error(`${file} cannot be kept open`);
    } catch (error) {
      reason ??= error;
    }
  }
  throw reason;
}
