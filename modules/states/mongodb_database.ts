/**
 * State module `mongodb_database`: databases of MongoDB, which come into being by themselves.
 * Source: Salt 3006.28 `salt/states/mongodb_database.py`, which Salt 3008 has no longer.
 * @module
 */

import { AUTHDB, MONGO_LOGIN, MONGO_LOGIN_DOC } from "#lib/host/mongodb/login.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { map, str } from "#lib/values/value.ts";
import { loginArgs, needsMongodb } from "./_mongodb.ts";

export const virtual: Virtual = needsMongodb("db_exists");

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a database does not exist.\n\nname\n    The database.${MONGO_LOGIN_DOC}`,
  params: {
    name: p.str(),
    ...MONGO_LOGIN,
    ...AUTHDB,
  },
  async run({ name, ...login }, { call, test }) {
    // Salt asks `db_exists`, which says False also if the server does not answer.
    const databases = await call("mongodb.db_list", [], loginArgs(login));
    if (!Array.isArray(databases)) return failState(name, str(databases));
    if (!databases.includes(name)) return { ...startResult(name), comment: `Database ${name} is not present` };
    if (test) return { ...startResult(name, null), comment: `Database ${name} is present and needs to be removed` };
    const removed = await call("mongodb.db_remove", [name], loginArgs(login));
    if (removed !== true) return failState(name, `Failed to remove database ${name}: ${str(removed)}`);
    return { ...startResult(name), comment: `Database ${name} has been removed`, changes: map({ [name]: "Absent" }) };
  },
});
