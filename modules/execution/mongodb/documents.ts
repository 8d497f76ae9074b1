/**
 * Execution module `mongodb`: documents of collections.
 * Source: Salt 3006.28 `salt/modules/mongodb.py`.
 * @module
 */

import { AUTHDB, MONGO_LOGIN, MONGO_LOGIN_DOC } from "#lib/host/mongodb/login.ts";
import { CommandError } from "#lib/errors.ts";
import {
  type MongoCommand,
  type MongoConnection,
  MongoError,
  refuseInsertErrors,
  refuseWriteErrors,
} from "#lib/host/mongodb/client.ts";
import { collectionNameProblem } from "#lib/host/mongodb/names.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { isMap, map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";
import { IN_DATABASE, withMongo } from "./connection.ts";
import { readJson } from "./json_arguments.ts";

const COLLECTION_DOC = `\n\ncollection\n    The collection.\n\ndatabase\n    Its database.${MONGO_LOGIN_DOC}`;

/** A collection of a database. */
interface Collection {
  readonly database: string;
  readonly collection: string;
}

/**
 * Runs a command of a collection.
 * @throws {MongoError}
 */
async function runIn(
  connection: MongoConnection,
  { database, collection }: Collection,
  verb: string,
  rest: MongoCommand,
): Promise<ValueMap> {
  const problem = collectionNameProblem(collection);
  if (problem !== undefined) throw new MongoError(problem);
  return await connection.run(database, { [verb]: collection, ...rest });
}

/**
 * A query.
 * @throws {CommandError} If it is none.
 */
function queryOf(value: Value): ValueMap {
  if (!isMap(value)) throw new CommandError("A query must be a dict");
  return value;
}

export const insert: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Insert documents. Return True, or the text of an error.\n\nobjects\n    A list of documents; also as JSON.${COLLECTION_DOC}`,
    `mongodb.insert '[{"foo": "FOO", "bar": "BAR"}, {"foo": "BAZ", "bar": "BAM"}]' mycollection <user> <password> ` +
      "<host> <port> <database>",
  ),
  permissions: "all",
  params: { objects: p.any(), collection: p.str(), ...IN_DATABASE },
  run: ({ objects: given, collection, database, ...login }, context) =>
    withMongo<Value>(login, context, {
      database,
      what: `Inserting into ${database}.${collection}`,
      async use(connection) {
        const objects = readJson(given);
        if ("problem" in objects) return objects.problem;
        const documents = objects.value;
        if (!Array.isArray(documents) || documents.length === 0) {
          throw new CommandError("documents must be a non-empty list");
        }
        if (!documents.every(isMap)) throw new CommandError("A document must be a dict");
        const answer = await runIn(connection, { database, collection }, "insert", { ordered: true, documents });
        refuseInsertErrors(answer, documents);
        return true;
      },
    }),
});

const WRONG_UPDATE = `Your request does not contain a valid '{_"id": "my_id"} {"my_doc": "my_val"}'`;

/** The two documents of an update, `{…} {…}`, or what is wrong. */
function updateParts(text: string): { readonly parts: readonly [Value, Value] } | { readonly problem: string } {
  const texts = text.split(/\}\s+\{/);
  if (texts.length !== 2) return { problem: WRONG_UPDATE };
  const [query, changes] = [`${texts[0]}}`, `{${texts[1]}`].map(readJson);
  if ("problem" in query) return query;
  return "problem" in changes ? changes : { parts: [query.value, changes.value] };
}

export const update_one: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Change the fields of one document. Return how many were changed, or what is wrong.\n\nobjects\n    A query that " +
      `matches one document, and the fields, both as JSON, with a blank between them.${COLLECTION_DOC}`,
    `mongodb.update_one '{"_id": "my_minion"} {"bar": "BAR"}' mycollection <user> <password> <host> <port> <database>`,
  ),
  permissions: "all",
  params: { objects: p.any(), collection: p.str(), ...IN_DATABASE },
  run: ({ objects, collection, database, ...login }, context) =>
    withMongo<Value>(login, context, {
      database,
      what: `Updating ${database}.${collection}`,
      async use(connection) {
        const read = updateParts(str(objects));
        if ("problem" in read) return read.problem;
        const [q, changes] = read.parts.map(queryOf);
        const found = await matches(connection, q, { database, collection });
        if (found === 0) return "Did not find any result. You should try an insert before.";
        if (found === undefined) {
          return "The find result is not well formatted. An error appears; cannot update.";
        }
        if (found > 1) return "Too many results. Please try to be more specific.";
        const updates = [map({ q, u: map({ $set: changes }), multi: false, upsert: false })];
        const answer = await runIn(connection, { database, collection }, "update", { ordered: true, updates });
        refuseWriteErrors(answer);
        return `${str(answer.get("nModified") ?? 0)} objects updated`;
      },
    }),
});

/** How many documents match; `undefined`: it is not known. */
async function matches(
  connection: MongoConnection,
  query: ValueMap,
  { database, collection }: Collection,
): Promise<number | undefined> {
  try {
    return (await connection.find(database, collection, query)).length;
  } catch (error) {
    if (error instanceof MongoError) return undefined;
    throw error;
  }
}

export const find: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the documents that match.\n\nquery\n    A query or a list of them; also as JSON. Default: all." +
      COLLECTION_DOC,
    `mongodb.find mycollection '[{"foo": "FOO", "bar": "BAR"}]' <user> <password> <host> <port> <database>`,
  ),
  permissions: "all",
  params: { collection: p.str(), query: p.any(null), ...IN_DATABASE },
  run: ({ collection, query: given, database, ...login }, context) =>
    withMongo<Value>(login, context, {
      database,
      what: `Searching in ${database}.${collection}`,
      async use(connection) {
        const query = readJson(given);
        if ("problem" in query) return query.problem;
        const queries = Array.isArray(query.value) ? query.value : [query.value];
        const found: Value[] = [];
        for (const one of queries) {
          found.push(...await connection.find(database, collection, one === null ? new Map() : queryOf(one)));
        }
        return found;
      },
    }),
});

export const remove: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove documents that match. Return how many were removed, or the text of an error.\n\nquery\n    A query or a " +
      `list of them; also as JSON.\n\nw\n    As many are removed for each query. Default: 1.${COLLECTION_DOC}`,
    `mongodb.remove mycollection '[{"foo": "FOO", "bar": "BAR"}, {"foo": "BAZ", "bar": "BAM"}]' <user> <password> ` +
      "<host> <port> <database>",
  ),
  permissions: "all",
  params: {
    collection: p.str(),
    query: p.any(null),
    ...MONGO_LOGIN,
    database: p.str("admin"),
    w: p.int(1),
    ...AUTHDB,
  },
  run: ({ collection, query: given, database, w, ...login }, context) =>
    withMongo<Value>(login, context, {
      database,
      what: `Removing from ${database}.${collection}`,
      async use(connection) {
        const query = readJson(given);
        if ("problem" in query) return query.problem;
        const queries = Array.isArray(query.value) ? query.value : [query.value];
        let removed = 0;
        for (const q of queries.map(queryOf)) removed += await removeMost(connection, q, { database, collection, w });
        return `${removed} objects removed`;
      },
    }),
});

/**
 * Removes one document after the other, as long as there are some.
 * @returns How many.
 * @throws {MongoError}
 */
async function removeMost(
  connection: MongoConnection,
  q: ValueMap,
  { w, ...place }: Collection & { readonly w: number },
): Promise<number> {
  for (let removed = 0;; removed++) {
    if (removed >= w) return removed;
    const answer = await runIn(connection, place, "delete", { ordered: true, deletes: [map({ q, limit: 1 })] });
    refuseWriteErrors(answer);
    if (!(toNumber(answer.get("n")) ?? 0)) return removed;
  }
}
