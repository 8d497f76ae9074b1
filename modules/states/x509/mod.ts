/**
 * State module `x509`: the functions of its parts. The compiler refuses a name that two parts export.
 * @module
 */

export * from "./certificates.ts";
export * from "./keys.ts";
export * from "./ssh.ts";
