/**
 * State module `git`: the functions of its parts. The compiler refuses a name that two parts export.
 * @module
 */

export * from "./configuring.ts";
export * from "./detaching.ts";
export * from "./repositories.ts";
