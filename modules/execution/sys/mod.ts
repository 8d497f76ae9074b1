/**
 * Execution module `sys`: the functions of its parts. The compiler refuses a name that two parts export.
 * @module
 */

export * from "./families.ts";
export * from "./functions.ts";
