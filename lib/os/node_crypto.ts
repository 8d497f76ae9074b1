/**
 * node:crypto, loaded when it is first asked for.
 * @module
 */

import { nodeBuiltin } from "./node_builtin.ts";

/** What the module exports. */
export type NodeCrypto = ReturnType<typeof nodeBuiltin<"node:crypto">>;

let loaded: NodeCrypto | undefined;

/** The module. */
export function nodeCrypto(): NodeCrypto {
  return loaded ??= nodeBuiltin("node:crypto");
}
