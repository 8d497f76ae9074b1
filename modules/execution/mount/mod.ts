/**
 * Execution module `mount`: the functions of its parts. The compiler refuses a name that two parts export.
 * @module
 */

export * from "./mounting.ts";
export * from "./tables.ts";
