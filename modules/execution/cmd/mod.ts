/**
 * Execution module `cmd`: the functions of its parts. The compiler refuses a name that two parts export.
 * @module
 */

export * from "./running.ts";
export * from "./scripts.ts";
