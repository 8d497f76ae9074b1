/**
 * Execution module `ssh`: the functions of its parts. The compiler refuses a name that two parts export.
 * @module
 */

export * from "./keys.ts";
export * from "./known_hosts.ts";
