/**
 * Execution module `file`: the functions of its parts. The compiler refuses a name that two parts export.
 * @module
 */

export * from "#modules/execution/_file_backups.ts";
export * from "./checking.ts";
export * from "./editing.ts";
export * from "./finding.ts";
export * from "./inspecting.ts";
export * from "./managing.ts";
export * from "./ownership.ts";
export * from "./replacing.ts";
export * from "./trees.ts";
