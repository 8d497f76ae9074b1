/**
 * State module `file`: the functions of its parts. The compiler refuses a name that two parts export.
 * @module
 */

export * from "./accumulating.ts";
export * from "./appending.ts";
export * from "./caching.ts";
export * from "./check_cmd.ts";
export * from "./directory.ts";
export * from "./hardlinks.ts";
export * from "./keyvalue.ts";
export * from "./managed.ts";
export * from "./moving.ts";
export * from "./nodes.ts";
export * from "./patching.ts";
export * from "./presence.ts";
export * from "./recursing.ts";
export * from "./replacing.ts";
export * from "./retention.ts";
export * from "./serializing.ts";
export * from "./symlinks.ts";
export * from "./tidying.ts";
