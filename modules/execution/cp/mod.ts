/**
 * Execution module `cp`: the functions of its parts. The compiler refuses a name that two parts export.
 * @module
 */

export * from "./caching.ts";
export * from "./files.ts";
export * from "./sending.ts";
