/**
 * Execution module `mongodb`: users.
 * Source: Salt 3006.28 `salt/modules/mongodb.py`.
 * @module
 */

import { MONGO_LOGIN_DOC } from "#lib/host/mongodb/login.ts";
import type { MongoCommand } from "#lib/host/mongodb/client.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { errorPair, IN_DATABASE, NOT_CONNECTED, withMongo } from "./connection.ts";
import { type InDatabase, listedUsers } from "./listed_users.ts";

const NAME_DOC = "\n\nname\n    The user.\n\ndatabase\n    The database of the user.";

export const user_find: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return a user as the server shows it, in a list; an empty list: there is none.${NAME_DOC}${MONGO_LOGIN_DOC}`,
    "mongodb.user_find <name> <user> <password> <host> <port> <database> <authdb>",
  ),
  permissions: "all",
  params: { name: p.str(), ...IN_DATABASE },
  run: ({ name, database, ...login }, context) =>
    withMongo(login, context, {
      what: `Finding user ${name}`,
      use: async (connection) => listOrEmpty((await connection.run(database, { usersInfo: name })).get("users")),
      failed: errorPair,
    }),
});

export const user_list: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return the users of a database with their roles.\n\ndatabase\n    The database.${MONGO_LOGIN_DOC}`,
    "mongodb.user_list <user> <password> <host> <port> <database>",
  ),
  permissions: "all",
  params: IN_DATABASE,
  run: (given, context) => listedUsers(given, context),
});

export const user_exists: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return whether there is a user; a text: it is not known.${NAME_DOC}${MONGO_LOGIN_DOC}`,
    "mongodb.user_exists <name> <user> <password> <host> <port> <database>",
  ),
  permissions: "all",
  params: { name: p.str(), ...IN_DATABASE },
  async run({ name, ...given }, context) {
    const users = await listedUsers(given, context);
    return Array.isArray(users) ? users.some((user) => isMap(user) && user.get("user") === name) : NOT_CONNECTED;
  },
});

/** A function that changes a user: True, and if it fails False. */
function changeUser(
  { database, ...login }: InDatabase,
  context: JobContext,
  { what, command }: { readonly what: string; readonly command: MongoCommand },
): Promise<Value> {
  return withMongo(login, context, {
    what,
    async use(connection) {
      await connection.run(database, command);
      return true;
    },
    failed: ({ isConnection }) => isConnection ? NOT_CONNECTED : false,
  });
}

export const user_create: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Make a user. Return whether it was made.\n\nname\n    The user.\n\npasswd\n    Its password.\n\ndatabase\n    Its ` +
      `database.\n\nroles\n    Its roles in this database.${MONGO_LOGIN_DOC}`,
    "mongodb.user_create <user_name> <user_password> <user> <password> <host> <port> <database> roles='[\"readWrite\"]'",
  ),
  permissions: "all",
  params: { name: p.str(), passwd: p.str(), ...IN_DATABASE, roles: p.list(null) },
  run({ name, passwd, roles, ...given }, context) {
    const own = (roles ?? []).map((role) => map({ role, db: given.database }));
    const command = { createUser: name, pwd: passwd, roles: own };
    return changeUser(given, context, { what: `Creating user ${name}`, command });
  },
});

export const user_remove: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Remove a user. Return whether it was removed.${NAME_DOC}${MONGO_LOGIN_DOC}`,
    "mongodb.user_remove <name> <user> <password> <host> <port> <database>",
  ),
  permissions: "all",
  params: { name: p.str(), ...IN_DATABASE },
  run: ({ name, ...given }, context) =>
    changeUser(given, context, { what: `Removing user ${name}`, command: { dropUser: name } }),
});
