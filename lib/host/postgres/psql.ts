/**
 * The command lines of psql, and its output: rows as CSV. Knows nothing of minions. Source: Salt 3008.3,
 * `salt/modules/postgres.py`; psql(1), libpq's password file.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { InvocationError } from "#lib/errors.ts";
import { readCsv } from "#lib/text/csv.ts";

/** The server, the database and the user. Default of each: the option `postgres.…`, then psql's own default. */
export interface PsqlPlace {
  readonly user?: string;
  readonly host?: string;
  readonly port?: string;
  readonly database?: string;
}

/**
 * The words of a call; psql never asks for a password.
 * @param args Arguments for the action: `-c`, a command.
 */
export function psqlWords(
  program: string,
  { user, host, port, database }: PsqlPlace,
  args: readonly string[],
): string[] {
  const option = (name: string, value: string | undefined) => value ? [name, value] : [];
  return [
    program,
    ...["--no-align", "--no-readline", "--no-psqlrc", "--no-password"],
    ...option("--username", user),
    ...option("--host", host),
    ...option("--port", port),
    ...["--dbname", database || "postgres"],
    ...args,
  ];
}

/** A line of libpq's password file. A host that is a directory of sockets is localhost. */
export function passwordLine({ host, port, user }: PsqlPlace, password: string): string {
  const place = !host || host.startsWith("/") ? "localhost" : host;
  const escapeField = (text: string) => text.replace(/[\\:]/g, "\\$&");
  const anyOr = (text: string | null | undefined) => text ? escapeField(text) : "*";
  return [escapeField(place), anyOr(port), "*", anyOr(user), escapeField(password)].join(":");
}

/**
 * A command that prints the rows of a query as CSV.
 * @param write Whether the query may change data.
 */
export function rowsCommand(query: string, write: boolean): string {
  const copy = `COPY (${rstripChars(query.trim(), ";")}) TO STDOUT WITH CSV HEADER`;
  return write ? `START TRANSACTION READ WRITE; ${copy}; COMMIT TRANSACTION;` : copy;
}

/** One row by the names of columns. */
export type Row = Record<string, string>;

/** The rows that psql prints for {@linkcode rowsCommand}: if it may write, the last line reports the commit. */
export function parseRows(output: string, write = false): Row[] {
  const [header, ...rows] = readCsv(output).filter(({ length }) => length > 0);
  const records = rows.map((row) => Object.fromEntries(header.slice(0, row.length).map((name, i) => [name, row[i]])));
  return write ? records.slice(0, -1) : records;
}

/**
 * A value in quotes.
 * @throws {InvocationError} If it contains a quote, which would end the value.
 */
export function quoteSql(value: string, quote: "'" | '"' = "'"): string {
  if (value.includes(quote)) throw new InvocationError(`Unsupported character ${quote} in value: ${value}`);
  return `${quote}${value}${quote}`;
}

/**
 * A name in double quotes.
 * @throws {InvocationError} As {@linkcode quoteSql}.
 */
export function identifier(name: string): string {
  return quoteSql(name, '"');
}

/** A text as a literal: quotes in it are written twice. */
export function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
