/**
 * Execution module `yumpkg`: the functions of its parts. The compiler refuses a name that two parts export.
 * @module
 */

export * from "#modules/execution/_rpm_queries.ts";
export * from "./groups.ts";
export * from "./packages.ts";
export * from "./queries.ts";
