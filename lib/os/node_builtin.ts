/**
 * Loads Node's own modules when they are first needed. They come with Node's compatibility layer, which takes 4 to 6 MB
 * and 20 to 40 ms in every thread, and most threads and commands never need one.
 * @module
 */

import type * as AsyncHooks from "node:async_hooks";
import type * as Buffers from "node:buffer";
import type * as Crypto from "node:crypto";
import type * as Fs from "node:fs";
import type * as Inspector from "node:inspector";
import type * as Sqlite from "node:sqlite";

/** The modules that are used, by name. */
export interface Builtins {
  /** Values that go with asynchronous calls: the mask of a state. */
  readonly "node:async_hooks": typeof AsyncHooks;
  /** Keys as bytes, which `node:crypto` takes in this form alone. */
  readonly "node:buffer": typeof Buffers;
  /** RSA, if the system has no OpenSSL; digests of large files in threads that may not call it. */
  readonly "node:crypto": typeof Crypto;
  /** File facts that Deno does not offer. */
  readonly "node:fs": typeof Fs;
  /** CPU profiles. */
  readonly "node:inspector": typeof Inspector;
  /** SQLite databases. */
  readonly "node:sqlite": typeof Sqlite;
}

const loaded: { [N in keyof Builtins]?: Builtins[N] } = {};

/** Loads one of Node's modules synchronously; `import()` would return a promise. */
export function nodeBuiltin<N extends keyof Builtins>(name: N): Builtins[N] {
  // The types of the main scope do not have Node's global.
  const { process } = globalThis as unknown as { process: { getBuiltinModule(name: N): Builtins[N] } };
  return loaded[name] ??= process.getBuiltinModule(name);
}
