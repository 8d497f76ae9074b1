/**
 * Execution module `archive`: the functions of its parts. The compiler refuses a name that two parts export.
 * @module
 */

export * from "./listing.ts";
export * from "./packing.ts";
