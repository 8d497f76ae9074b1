/**
 * A connection to MongoDB for one call of a function.
 * Source: Salt 3006.28 `salt/modules/mongodb.py` (`_connect`); pymongo 3.13 for the words of errors; MongoDB, "Database
 * Commands".
 * @module
 */

import type { BSON, Db, MongoClient } from "mongodb";
import { CommandError, messageOf } from "#lib/errors.ts";
import { isMap, map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";
import { fromBson, fullError, toBson } from "./documents.ts";
import { collectionNameProblem, databaseNameProblem } from "./names.ts";
import type { MongoAddress } from "./place.ts";

/** Milliseconds until a server is given up that does not answer a connection. Salt waits 30 s. */
const CONNECT_MS = 10_000;
/** Milliseconds until a server is given up that does not answer a command. */
const ANSWER_MS = 300_000;
/** As many bytes of documents as one search may give. */
const MOST_BYTES = 64 * 1024 * 1024;

/** How documents are read: numbers keep their types. */
const READING = { promoteValues: false, bsonRegExp: true } as const;

/** An error of the server, or of the way to it. The message is what Python's `str` shows of it. */
export class MongoError extends CommandError {
  override name = "MongoError";
  /** What the server says, without the details that {@linkcode message} has. */
  readonly said: string;

  constructor(message: string, { said = message, ...options }: ErrorOptions & { readonly said?: string } = {}) {
    super(message, options);
    this.said = said;
  }
}

/** Where to connect, and as whom. */
export interface MongoPlace {
  readonly address: MongoAddress;
  /** A user with a password, and the database that knows it. */
  readonly login?: { readonly user: string; readonly password: string; readonly database: string };
}

/** A command: its name with its first argument, then the others. */
export type MongoCommand = Readonly<Record<string, Value>>;

/** An open connection. */
export interface MongoConnection extends AsyncDisposable {
  /**
   * Runs a command of a database.
   * @returns The server's answer.
   * @throws {MongoError}
   */
  run(database: string, command: MongoCommand): Promise<ValueMap>;
  /**
   * The documents that match a query.
   * @throws {MongoError}
   */
  find(database: string, collection: string, query: ValueMap): Promise<Value[]>;
  /**
   * The names of a database's collections.
   * @throws {MongoError}
   */
  collections(database: string): Promise<string[]>;
}

type Library = typeof import("#lib/host/mongodb/mongodb_library.ts");

/**
 * Connects.
 * @param signal Ends what the connection is doing.
 * @throws {MongoError} It names hosts and ports, and no password.
 */
export async function openMongo({ address, login }: MongoPlace, signal: AbortSignal): Promise<MongoConnection> {
  const library: Library = await import(new URL("./mongodb_library.ts", import.meta.url).href);
  const client = clientOf(library, address, login);
  try {
    await client.connect();
  } catch (error) {
    await client.close();
    throw new MongoError(`${address.shown}: ${connectionReason(error)}`);
  }
  return connectionOf(library, client, { shown: address.shown, signal });
}

function clientOf(library: Library, { url, shown, isDirect }: MongoAddress, login: MongoPlace["login"]): MongoClient {
  try {
    return new library.MongoClient(url, {
      ...login !== undefined && {
        auth: { username: login.user, password: login.password },
        authSource: login.database,
      },
      ...isDirect && { directConnection: true },
      // What a URL says of them itself counts.
      ...missing(url, {
        serverSelectionTimeoutMS: CONNECT_MS,
        connectTimeoutMS: CONNECT_MS,
        socketTimeoutMS: ANSWER_MS,
      }),
      serverMonitoringMode: "poll",
      maxPoolSize: 1,
      retryReads: false,
      retryWrites: false,
    });
  } catch {
    // The library's message can contain the URL, with its password.
    throw new MongoError(`${shown}: the address of MongoDB cannot be used`);
  }
}

/** Those settings that a URL does not have. */
function missing(url: string, settings: Readonly<Record<string, number>>): Record<string, number> {
  const asked = url.toLowerCase();
  return Object.fromEntries(
    Object.entries(settings).filter(([name]) =>
      !asked.includes(`?${name.toLowerCase()}=`) && !asked.includes(`&${name.toLowerCase()}=`)
    ),
  );
}

/** Why there is no connection. Only a server's own text, and the system's, are known to have no part of the address. */
function connectionReason(error: unknown): string {
  return messageOf(error).replaceAll(/mongodb(?:\+srv)?:\/\/\S*/gi, "…");
}

interface Opened {
  readonly shown: string;
  readonly signal: AbortSignal;
}

function connectionOf(library: Library, client: MongoClient, { shown, signal }: Opened): MongoConnection {
  const { BSON } = library;
  const database = (name: string): Db => {
    refuse(databaseNameProblem(name));
    return client.db(name);
  };
  const failed = (error: unknown): Error => {
    if (error instanceof CommandError) return error;
    if (error instanceof library.MongoServerError) return serverError(error);
    return new MongoError(`${shown}: ${connectionReason(error)}`);
  };
  return {
    async run(name, command) {
      try {
        const document = Object.fromEntries(Object.entries(command).map(([key, value]) => [key, toBson(value, BSON)]));
        return answerMap(fromBson(await database(name).command(document, { ...READING, signal })));
      } catch (error) {
        throw failed(error);
      }
    },
    async find(name, collection, query) {
      try {
        refuse(collectionNameProblem(collection));
        return await foundDocuments(database(name), { collection, query, bson: BSON, signal });
      } catch (error) {
        throw failed(error);
      }
    },
    async collections(name) {
      try {
        const listed = await database(name).listCollections({}, { nameOnly: true, signal }).toArray();
        return listed.map((one) => one.name);
      } catch (error) {
        throw failed(error);
      }
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** @throws {MongoError} If there is a problem. */
function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw new MongoError(problem);
}

async function foundDocuments(
  database: Db,
  { collection, query, bson, signal }: {
    readonly collection: string;
    readonly query: ValueMap;
    readonly bson: typeof BSON;
    readonly signal: AbortSignal;
  },
): Promise<Value[]> {
  // The library's type of a query knows no maps, which keep the order of all keys.
  const filter = Object.fromEntries([...query].map(([key, value]) => [str(key), toBson(value, bson)]));
  const found: Value[] = [];
  let bytes = 0;
  for await (const document of database.collection(collection).find(filter, { ...READING, raw: true, signal })) {
    if (!(document instanceof Uint8Array)) throw new MongoError("The server's answer has a document of no known form");
    bytes += document.length;
    if (bytes > MOST_BYTES) {
      throw new MongoError(`More than ${MOST_BYTES} bytes of documents match: the query must be narrower`);
    }
    found.push(fromBson(bson.deserialize(document, READING)));
  }
  return found;
}

function answerMap(answer: Value): ValueMap {
  return isMap(answer) ? answer : new Map();
}

/** The answer that says why a command has failed, in the words of Salt's library. */
function serverError(error: Error): MongoError {
  const details = fromBson(Reflect.get(error, "errorResponse"));
  return new MongoError(fullError(error.message, details), { said: error.message });
}

/**
 * Refuses the answer of a command that changes documents if it names an error.
 * @throws {MongoError}
 */
export function refuseWriteErrors(answer: ValueMap): void {
  for (const key of ["writeErrors", "writeConcernError"]) {
    const given = answer.get(key) ?? null;
    const error = Array.isArray(given) ? given[0] : given;
    if (!isMap(error)) continue;
    const said = str(error.get("errmsg") ?? "");
    throw new MongoError(fullError(said, error), { said });
  }
}

/**
 * Refuses the answer of a command that inserts documents if it names an error.
 * @throws {MongoError}
 */
export function refuseInsertErrors(answer: ValueMap, documents: readonly Value[]): void {
  const listed = (key: string): ValueMap[] => {
    const given = answer.get(key) ?? null;
    return (Array.isArray(given) ? given : [given]).filter(isMap);
  };
  const [errors, concerns] = [listed("writeErrors"), listed("writeConcernError")];
  if (errors.length + concerns.length === 0) return;
  const said = "batch op errors occurred";
  const details = map({
    writeErrors: errors.map((error) =>
      new Map([...error, ["op", documents[toNumber(error.get("index")) ?? 0] ?? null]])
    ),
    writeConcernErrors: concerns,
    nInserted: answer.get("n") ?? 0,
    nUpserted: 0,
    nMatched: 0,
    nModified: 0,
    nRemoved: 0,
    upserted: [],
  });
  throw new MongoError(fullError(said, details), { said });
}
