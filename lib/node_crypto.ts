/**
 * node:crypto, loaded when it is first asked for: with Node's compatibility layer, which comes with it, it takes 4 MB and
 * 20 ms of every thread, and most threads and commands never need it.
 * @module
 */

import type * as Crypto from "node:crypto";

/** What the module exports. */
export type NodeCrypto = typeof Crypto;

let loaded: NodeCrypto | undefined;

/** The module. At once, where an `import()` would make a promise of every signature. */
export function nodeCrypto(): NodeCrypto {
  // The main scope's types do not have Node's global.
  const { process } = globalThis as unknown as { process: { getBuiltinModule(name: "node:crypto"): NodeCrypto } };
  return loaded ??= process.getBuiltinModule("node:crypto");
}
