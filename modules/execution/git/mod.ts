/**
 * Execution module `git`: the functions of its parts. The compiler refuses a name that two parts export.
 * @module
 */

export * from "./config.ts";
export * from "./remotes.ts";
export * from "./repositories.ts";
export * from "./worktrees.ts";
