/**
 * Runner `state`: the functions of its parts. The compiler refuses a name that two parts export.
 * @module
 */

export * from "./orchestrating.ts";
export * from "./showing.ts";
