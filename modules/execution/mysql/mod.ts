/**
 * Execution module `mysql`: the functions of its parts. The compiler refuses a name that two parts export.
 * Source: the functions of Salt 3008.3 `salt/modules/mysql.py`.
 * @module
 */

export * from "./databases.ts";
export * from "./grants.ts";
export * from "./maintenance.ts";
export * from "./plugins.ts";
export * from "./queries.ts";
export * from "./replication.ts";
export * from "./server.ts";
export * from "./users.ts";
