/**
 * The connection of a call of `mongodb`: from its arguments, else from the options `mongodb.*` of minion and pillar.
 * Source: Salt 3006.28 `salt/modules/mongodb.py` (`_connect`).
 * @module
 */

import { type MongoConnection, MongoError, type MongoPlace, openMongo } from "#lib/host/mongodb/client.ts";
import { AUTHDB, MONGO_LOGIN, type MongoLogin } from "#lib/host/mongodb/login.ts";
import { mongoAddress } from "#lib/host/mongodb/place.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { p } from "#lib/plugins/module.ts";
import { str, truthy, type Value } from "#lib/values/value.ts";

/** The arguments of a connection for functions that are about one database. */
export const IN_DATABASE = { ...MONGO_LOGIN, database: p.str("admin"), ...AUTHDB };

/** What Salt returns if there is no connection. */
export const NOT_CONNECTED = "Failed to connect to mongo database";

/** Why a function cannot do what it shall. */
export interface MongoFailure {
  /** Whether there is no connection. */
  readonly isConnection: boolean;
  /** The text of the error, with all that the server says. */
  readonly text: string;
  /** The server, for people. */
  readonly server: string;
}

/** What is done with a connection. */
export interface MongoUse<T> {
  /** The database that is asked for the user if nothing says which one. */
  readonly database?: string;
  /** For the log: `Creating user fred`. */
  readonly what: string;
  use(connection: MongoConnection): Promise<T>;
  /** The result if it fails. Default: the error's text, and if there is no connection, {@linkcode NOT_CONNECTED}. */
  failed?(failure: MongoFailure): Value;
}

async function placeOf(given: MongoLogin, database: string, { call }: JobContext): Promise<MongoPlace> {
  const setting = async (name: "user" | "password" | "host" | "port"): Promise<string | undefined> => {
    const value = truthy(given[name]) ? given[name] : await call("config.option", [`mongodb.${name}`, null]);
    return truthy(value) ? str(value) : undefined;
  };
  const [host, port] = [await setting("host"), await setting("port")];
  const address = mongoAddress(host, port === undefined ? undefined : Number(port));
  const [user, password] = [await setting("user"), await setting("password")];
  if (user === undefined || password === undefined) return { address };
  return { address, login: { user, password, database: given.authdb || database } };
}

/**
 * Uses a connection. What fails is in the log, with the server and without passwords.
 * @returns What `use` does, or `failed`.
 */
export async function withMongo<T extends Value>(
  given: MongoLogin,
  context: JobContext,
  { database = "admin", what, use, failed = failureText }: MongoUse<T>,
): Promise<Value> {
  let server = "", isOpen = false, isLogin = false;
  try {
    const place = await placeOf(given, database, context);
    [server, isLogin] = [place.address.shown, place.login !== undefined];
    await using connection = await openMongo(place, context.signal);
    isOpen = true;
    context.log("info", what);
    return await use(connection);
  } catch (error) {
    if (!(error instanceof MongoError)) throw error;
    context.log(
      "error",
      isOpen ? `${what} failed: ${error.message}` : `Error connecting to database: ${error.message}`,
    );
    // Salt connects at once only to log in; else the first command fails.
    return failed({ isConnection: !isOpen && isLogin, text: error.message, server });
  }
}

function failureText({ isConnection, text }: MongoFailure): string {
  return isConnection ? NOT_CONNECTED : text;
}

/** Salt's pair of an error. */
export function errorPair({ isConnection, text, server }: MongoFailure): Value[] {
  return [false, isConnection ? `Failed to connect to MongoDB database ${server}` : text];
}
