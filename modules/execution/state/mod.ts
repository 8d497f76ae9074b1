/**
 * Execution module `state`: the functions of its parts. The compiler refuses a name that two parts export.
 * @module
 */

export * from "./applying.ts";
export * from "./controlling.ts";
export * from "./linting.ts";
export * from "./showing.ts";
