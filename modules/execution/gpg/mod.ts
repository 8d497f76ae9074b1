/**
 * Execution module `gpg`: the functions of its parts. The compiler refuses a name that two parts export.
 * @module
 */

export * from "./keys.ts";
export * from "./signing.ts";
