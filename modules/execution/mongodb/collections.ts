/**
 * Execution module `mongodb`: collections.
 * Source: Salt 3006.28 `salt/modules/mongodb.py`.
 * @module
 */

import { MONGO_LOGIN_DOC } from "#lib/host/mongodb/login.ts";
import { MongoError } from "#lib/host/mongodb/client.ts";
import { collectionNameProblem } from "#lib/host/mongodb/names.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { IN_DATABASE, withMongo } from "./connection.ts";

const DATABASE_DOC = `\n\ndatabase\n    Its database.${MONGO_LOGIN_DOC}`;

export const collection_create: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Make a collection. Return True, or the text of an error.\n\ncollection\n    Its name.${DATABASE_DOC}`,
    "mongodb.collection_create mycollection <user> <password> <host> <port> <database>",
  ),
  permissions: "all",
  params: { collection: p.str(), ...IN_DATABASE },
  run: ({ collection, database, ...login }, context) =>
    withMongo(login, context, {
      database,
      what: `Creating ${database}.${collection}`,
      async use(connection) {
        if ((await connection.collections(database)).includes(collection)) {
          throw new MongoError(`collection ${collection} already exists`);
        }
        const problem = collectionNameProblem(collection);
        if (problem !== undefined) throw new MongoError(problem);
        await connection.run(database, { create: collection });
        return true;
      },
    }),
});

/** What a server says if there is no such collection. */
const NO_NAMESPACE = "ns not found";

export const collection_drop: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Remove a collection. Return True, or the text of an error.\n\ncollection\n    Its name.${DATABASE_DOC}`,
    "mongodb.collection_drop mycollection <user> <password> <host> <port> <database>",
  ),
  permissions: "all",
  params: { collection: p.str(), ...IN_DATABASE },
  run: ({ collection, database, ...login }, context) =>
    withMongo(login, context, {
      database,
      what: `Dropping ${database}.${collection}`,
      async use(connection) {
        try {
          await connection.run(database, { drop: collection });
        } catch (error) {
          // It is what the caller wants.
          if (!(error instanceof MongoError) || error.said !== NO_NAMESPACE) throw error;
        }
        return true;
      },
    }),
});

export const collections_list: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return the names of the collections.\n\ndatabase\n    Their database.${MONGO_LOGIN_DOC}`,
    "mongodb.collections_list <user> <password> <host> <port> <database>",
  ),
  permissions: "all",
  params: IN_DATABASE,
  run: ({ database, ...login }, context) =>
    withMongo(login, context, {
      database,
      what: `Listing collections of ${database}`,
      use: (connection) => connection.collections(database),
    }),
});
