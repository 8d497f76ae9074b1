/**
 * Execution module `aptpkg`: the functions of its parts. The compiler refuses a name that two parts export.
 * @module
 */

export * from "./packages.ts";
export * from "./queries.ts";
export * from "./repositories.ts";
