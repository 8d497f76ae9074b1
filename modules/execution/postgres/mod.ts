/**
 * Execution module `postgres`: the functions of its parts. The compiler refuses a name that two parts export.
 * @module
 */

export * from "./databases.ts";
export * from "./extensions.ts";
export * from "./privileges.ts";
export * from "./roles.ts";
export * from "./schemas.ts";
