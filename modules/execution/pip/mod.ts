/**
 * Execution module `pip`: the functions of its parts. The compiler refuses a name that two parts export.
 * @module
 */

export * from "./installing.ts";
export * from "./listing.ts";
