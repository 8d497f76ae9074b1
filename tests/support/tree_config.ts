/**
 * The configuration of the tree, for programs that a test writes or starts outside of it.
 * @module
 */

/** The path of deno.json: the value of Deno's option `--config`, without which `#lib/…` imports do not resolve. */
export const TREE_CONFIG = decodeURIComponent(new URL("../../deno.json", import.meta.url).pathname);
