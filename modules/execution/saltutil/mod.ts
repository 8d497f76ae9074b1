/**
 * Execution module `saltutil`: the functions of its parts. The compiler refuses a name that two parts export.
 * @module
 */

export * from "./master_side.ts";
export * from "./minion.ts";
export * from "./syncing.ts";
