/**
 * State module `mount`: the functions of its parts. The compiler refuses a name that two parts export.
 * @module
 */

export * from "./mounted.ts";
export * from "./tables.ts";
