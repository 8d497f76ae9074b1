/**
 * Node's own modules, loaded when they are first asked for: with Node's compatibility layer, which comes with them, that takes
 * 4 to 6 MB and 20 to 40 ms of every thread, and most threads and commands never need one.
 * @module
 */

import type * as Crypto from "node:crypto";
import type * as Fs from "node:fs";
import type * as Inspector from "node:inspector";

/** Those that are used, by name. */
export interface Builtins {
  /** RSA, where the system has no OpenSSL. */
  readonly "node:crypto": typeof Crypto;
  /** What Deno does not tell of files. */
  readonly "node:fs": typeof Fs;
  /** CPU profiles. */
  readonly "node:inspector": typeof Inspector;
}

const loaded: { [N in keyof Builtins]?: Builtins[N] } = {};

/** One of Node's modules. At once, where an `import()` would make a promise of it. */
export function nodeBuiltin<N extends keyof Builtins>(name: N): Builtins[N] {
  // The main scope's types do not have Node's global.
  const { process } = globalThis as unknown as { process: { getBuiltinModule(name: N): Builtins[N] } };
  return loaded[name] ??= process.getBuiltinModule(name);
}
