/**
 * Execution module `mongodb`: databases, and the server's version.
 * Source: Salt 3006.28 `salt/modules/mongodb.py`.
 * @module
 */

import { AUTHDB, MONGO_LOGIN, MONGO_LOGIN_DOC, type MongoLogin } from "#lib/host/mongodb/login.ts";
import type { MongoConnection } from "#lib/host/mongodb/client.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isMap, str, type Value } from "#lib/values/value.ts";
import { errorPair, IN_DATABASE, withMongo } from "./connection.ts";

/** The names of the databases; a text says why there is no list. */
function databases(login: MongoLogin, context: JobContext): Promise<Value> {
  return withMongo(login, context, {
    what: "Listing databases",
    async use(connection) {
      const answer = await connection.run("admin", { listDatabases: 1, nameOnly: true });
      return listOrEmpty(answer.get("databases")).map((one) => isMap(one) ? one.get("name") ?? null : null);
    },
  });
}

export const db_list: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return the names of the databases.${MONGO_LOGIN_DOC}`,
    "mongodb.db_list <user> <password> <host> <port>",
  ),
  permissions: "all",
  params: { ...MONGO_LOGIN, ...AUTHDB },
  run: (login, context) => databases(login, context),
});

export const db_exists: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return whether there is a database; False also if the server does not answer.\n\nname\n    The database.${MONGO_LOGIN_DOC}`,
    "mongodb.db_exists <name> <user> <password> <host> <port>",
  ),
  permissions: "all",
  params: { name: p.str(), ...MONGO_LOGIN, ...AUTHDB },
  run: async ({ name, ...login }, context) => listOrEmpty(await databases(login, context)).includes(name),
});

export const db_remove: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Remove a database. Return True, or the text of an error.\n\nname\n    The database.${MONGO_LOGIN_DOC}`,
    "mongodb.db_remove <name> <user> <password> <host> <port>",
  ),
  permissions: "all",
  params: { name: p.str(), ...MONGO_LOGIN, ...AUTHDB },
  run: ({ name, ...login }, context) =>
    withMongo(login, context, {
      what: `Removing database ${name}`,
      async use(connection) {
        await connection.run(name, { dropDatabase: 1 });
        return true;
      },
    }),
});

export const version: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return the version of the server.${MONGO_LOGIN_DOC}`,
    "mongodb.version <user> <password> <host> <port> <database>",
  ),
  permissions: "all",
  params: IN_DATABASE,
  run: ({ database, ...login }, context) =>
    withMongo(login, context, {
      what: "Reading the version",
      use: (connection) => serverVersion(connection, database),
      failed: (failure) => failure.isConnection ? errorPair(failure) : failure.text,
    }),
});

async function serverVersion(connection: MongoConnection, database: string): Promise<string> {
  return str((await connection.run(database, { buildInfo: 1 })).get("version") ?? "");
}
