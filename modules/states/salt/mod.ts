/**
 * State module `salt`: the functions of its parts. The compiler refuses a name that two parts export.
 * @module
 */

export * from "./calls.ts";
export * from "./events.ts";
export * from "./runners.ts";
