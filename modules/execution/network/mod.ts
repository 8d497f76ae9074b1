/**
 * Execution module `network`: the functions of its parts. The compiler refuses a name that two parts export.
 * @module
 */

export * from "./addresses.ts";
export * from "./connections.ts";
export * from "./routes.ts";
