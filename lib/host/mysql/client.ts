/**
 * A connection to MySQL or MariaDB for one call of a function.
 * Source: Salt 3008.3 `salt/modules/mysql.py` (`_connect`).
 * @module
 */

import { CommandError, messageOf } from "#lib/errors.ts";
import { exists } from "#lib/os/file_kind.ts";
import { parseIpAddress } from "#lib/text/ip_network.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";
import { type ColumnDefinition, columnText, columnValue } from "./column_values.ts";
import { type QuoteValue, valueQuoting } from "./quoting.ts";

/** Milliseconds until a connection is given up. */
const CONNECT_MS = 10_000;
/** Where servers of this host listen. */
const SOCKETS = ["/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock"];

/** An error of the server, or of the way to it, with the text that Salt has for it. */
export class MysqlError extends CommandError {
  override name = "MysqlError";
}

/** Where to connect, and as whom. */
export interface MysqlPlace {
  readonly host?: string;
  readonly port?: number;
  /** The path of the server's socket. */
  readonly socket?: string;
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
  readonly charset?: string;
  /** Capabilities of the client, as the protocol names them. */
  readonly flags?: readonly string[];
  /** The contents of files. */
  readonly ssl?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
}

/** What a statement has given. */
export interface MysqlResult {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Value[])[];
  /** The number of rows that it has changed, or given. */
  readonly affected: number;
}

/** An open connection. */
export interface MysqlClient extends AsyncDisposable {
  /**
   * Runs a statement.
   * @param asText Whether all values are texts.
   * @throws {MysqlError}
   */
  run(statement: (quote: QuoteValue) => string, asText?: boolean): Promise<MysqlResult>;
  /** The rows of a statement as maps by the columns' names. */
  maps(statement: (quote: QuoteValue) => string): Promise<ValueMap[]>;
}

/** Flags that the library sets and Salt's does not: what counts is how many rows a statement has changed. */
const UNWANTED_FLAGS = ["-FOUND_ROWS", "-LOCAL_FILES", "-IGNORE_SPACE"];

/**
 * Connects.
 * @throws {MysqlError}
 */
export async function openMysql(place: MysqlPlace): Promise<MysqlClient> {
  const { host = "localhost", flags = [], ssl } = place;
  const library: typeof import("#lib/host/mysql/mysql_library.ts") = await import(
    new URL("./mysql_library.ts", import.meta.url).href
  );
  const isLocal = host === "localhost" || host === "";
  const socketPath = isLocal ? place.socket ?? SOCKETS.find(exists) : undefined;
  const connection = await library.createConnection({
    ...socketPath === undefined ? { host: isLocal ? "127.0.0.1" : host, port: place.port ?? 3306 } : { socketPath },
    user: place.user ?? "root",
    password: place.password,
    database: place.database,
    charset: place.charset ?? "utf8mb4",
    connectTimeout: CONNECT_MS,
    flags: [...UNWANTED_FLAGS, ...flags],
    multipleStatements: flags.includes("MULTI_STATEMENTS"),
    // A server's name is only checked if there is one.
    ...ssl !== undefined && { ssl: { ...ssl, verifyIdentity: parseIpAddress(host) === undefined && !isLocal } },
    rowsAsArray: true,
    // The columns' definitions say what the bytes are.
    typeCast: (field) => field.buffer(),
    disableEval: true,
  }).catch((error: unknown) => {
    throw mysqlError(error, socketPath ?? host, socketPath !== undefined);
  });
  const query = async (sql: string, asText: boolean): Promise<MysqlResult> => {
    try {
      const [rows, fields] = await connection.query(sql);
      return resultOf(rows, fields, asText);
    } catch (error) {
      throw mysqlError(error);
    }
  };
  const { rows: [[mode]] } = await query("SELECT @@sql_mode", true);
  const quote = valueQuoting(!String(mode).split(",").includes("NO_BACKSLASH_ESCAPES"));
  const run = (statement: (quoting: QuoteValue) => string, asText = false) => query(statement(quote), asText);
  return {
    run,
    async maps(statement) {
      const { columns, rows } = await run(statement);
      return rows.map((row) => new Map(row.map((value, i): [Value, Value] => [columns[i], value])));
    },
    [Symbol.asyncDispose]: () => connection.end(),
  };
}

/** The first result of a statement; further ones are those of more statements in one text, or of a procedure. */
function resultOf(rows: unknown, fields: unknown, asText: boolean): MysqlResult {
  if (!Array.isArray(rows)) return { columns: [], rows: [], affected: affectedRows(rows) };
  const isSeveral = Array.isArray(fields) && fields.some((one) => one === undefined || Array.isArray(one));
  if (isSeveral) return resultOf(rows[0], fields[0], asText);
  const columns = Array.isArray(fields) ? fields.map(columnDefinition) : [];
  const convert = asText ? columnText : columnValue;
  const valueAt = (cell: unknown, i: number) => convert(columns[i], cell instanceof Uint8Array ? cell : null);
  const values = rows.map((row: unknown) => Array.isArray(row) ? row.map(valueAt) : []);
  return { columns: columns.map(({ name }) => name), rows: values, affected: values.length };
}

function affectedRows(header: unknown): number {
  const count: unknown = typeof header === "object" && header !== null && Reflect.get(header, "affectedRows");
  return typeof count === "number" ? count : 0;
}

function columnDefinition(field: unknown): ColumnDefinition {
  const of = (name: string): unknown => typeof field === "object" && field !== null ? Reflect.get(field, name) : null;
  const number = (value: unknown) => typeof value === "number" ? value : undefined;
  return { name: String(of("name")), columnType: number(of("columnType")), characterSet: number(of("characterSet")) };
}

/** The error with Salt's text: the number and the text of the server, or of the client's library. */
function mysqlError(error: unknown, place?: string, isSocket = false): MysqlError {
  const of = (name: string): unknown => error instanceof Error ? Reflect.get(error, name) : undefined;
  const [number, text] = [of("errno"), of("sqlMessage")];
  if (typeof text === "string") return new MysqlError(`MySQL Error ${number}: ${text}`, { cause: error });
  if (place === undefined) {
    return new MysqlError(`MySQL Error 2013: Lost connection to MySQL server (${messageOf(error)})`, { cause: error });
  }
  const reason = typeof of("code") === "string" ? of("code") : messageOf(error);
  const what = isSocket
    ? `MySQL Error 2002: Can't connect to local MySQL server through socket '${place}' (${reason})`
    : `MySQL Error 2003: Can't connect to MySQL server on '${place}' (${reason})`;
  return new MysqlError(what, { cause: error });
}
