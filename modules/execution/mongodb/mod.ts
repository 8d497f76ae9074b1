/**
 * Execution module `mongodb`: the functions of its parts. The compiler refuses a name that two parts export.
 * Source: the functions of Salt 3006.28 `salt/modules/mongodb.py`, which Salt 3008 has no longer.
 * @module
 */

export * from "./collections.ts";
export * from "./databases.ts";
export * from "./documents.ts";
export * from "./roles.ts";
export * from "./users.ts";
