/**
 * The connection of a call of `mysql`: from its keywords, else from the options `mysql.*` of minion and pillar.
 * Source: Salt 3008.3 `salt/modules/mysql.py` (`_connect`).
 * @module
 */

import { type MysqlClient, MysqlError, type MysqlPlace, openMysql } from "#lib/host/mysql/client.ts";
import { CONNECTION_KEYWORDS } from "#lib/host/mysql/connection_keywords.ts";
import { keepMysqlError } from "#lib/host/mysql/last_error.ts";
import { readOptionFile } from "#lib/host/mysql/option_file.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { onlyStrings } from "#lib/values/shape.ts";
import { str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** What all declarations of the module's functions share. */
export const CONNECTED = {
  permissions: "all",
  varKwargs: "connection_args",
  watchedKeywords: CONNECTION_KEYWORDS,
} as const;

/** The capabilities that `client_flags` may name. */
const FLAGS = (
  "LONG_PASSWORD FOUND_ROWS LONG_FLAG CONNECT_WITH_DB NO_SCHEMA COMPRESS ODBC LOCAL_FILES IGNORE_SPACE PROTOCOL_41 " +
  "INTERACTIVE SSL IGNORE_SIGPIPE TRANSACTIONS SECURE_CONNECTION MULTI_STATEMENTS MULTI_RESULTS PS_MULTI_RESULTS"
).split(" ");

async function placeOf(given: ValueMap, context: JobContext): Promise<MysqlPlace> {
  const file = given.get("connection_default_file");
  const setting = async (name: string, hasOption = true): Promise<Value> => {
    if (given.has(`connection_${name}`)) return given.get(`connection_${name}`) ?? null;
    // What an option says would hide what the file says.
    if (file !== undefined && hasOption) return null;
    return await context.call("config.option", [`mysql.${name}`, null]);
  };
  const text = async (name: string, hasOption?: boolean) => {
    const value = await setting(name, hasOption);
    return truthy(value) ? str(value) : undefined;
  };
  const path = await text("default_file");
  const group = await text("default_group") ?? "client";
  const options = path === undefined
    ? new Map<string, string>()
    : readOptionFile(readTextFileIfExists(path) ?? "", ["client", group]);
  const port = await setting("port");
  const files = ["ca", "cert", "key"].map((name) => [name, options.get(`ssl_${name}`)] as const);
  const ssl = files.flatMap(([name, from]) => from ? [[name, readTextFileIfExists(from)]] : []);
  return {
    host: await text("host") ?? options.get("host"),
    port: truthy(port) ? toNumber(str(port)) ?? Number(str(port)) : numberOf(options.get("port")),
    socket: await text("unix_socket") ?? options.get("socket"),
    user: await text("user") ?? options.get("user"),
    password: await text("pass") ?? options.get("password"),
    database: await text("db") ?? options.get("database"),
    charset: await text("charset", false) ?? options.get("default_character_set"),
    flags: clientFlags(given.get("client_flags"), context),
    ...ssl.length > 0 && { ssl: Object.fromEntries(ssl) },
  };
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

function clientFlags(given: Value | undefined, context: JobContext): string[] {
  return onlyStrings(given ?? []).flatMap((flag) => {
    const name = flag.toUpperCase();
    if (FLAGS.includes(name) && flag === flag.toLowerCase()) return [name];
    context.log("error", `MySQL client flag ${flag} not valid, ignoring.`);
    return [];
  });
}

/** The values of a function that failed: if there is no connection, and if the server refuses a statement. */
interface Failures<T> {
  readonly connection: T;
  /** Default: the same. */
  readonly statement?: T;
}

/**
 * Uses a connection. What fails is kept for the states of the job.
 * @param given The function's keywords.
 */
export async function withMysql<T>(
  given: ValueMap,
  context: JobContext,
  { connection, statement = connection }: Failures<T>,
  use: (client: MysqlClient) => Promise<T>,
): Promise<T> {
  let isOpen = false;
  try {
    await using client = await openMysql(await placeOf(given, context));
    isOpen = true;
    return await use(client);
  } catch (error) {
    if (!(error instanceof MysqlError)) throw error;
    keepMysqlError(context, error.message);
    return isOpen ? statement : connection;
  }
}

/**
 * A function that returns the rows of a statement, a list of maps.
 * @param failures Its values if it fails. Default: an empty list.
 */
export function rowsFunction(
  doc: string,
  statement: string,
  failures: Failures<Value> = { connection: [] },
): ModuleFunction<JobContext> {
  return fn({
    doc,
    ...CONNECTED,
    params: {},
    run: (_, context, { kwargs }) =>
      withMysql<Value>(kwargs, context, failures, (client) => client.maps(() => statement)),
  });
}

/** The version as the server shows it: `10.11.6-MariaDB`. */
export async function serverVersion(client: MysqlClient): Promise<string> {
  const { rows: [[version]] } = await client.run(() => "SELECT VERSION()", true);
  return str(version);
}
