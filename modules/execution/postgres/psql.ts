/**
 * Runs psql for the functions of `postgres`: on which server, as which user, with which password. Source: Salt 3008.3,
 * `salt/modules/postgres.py` (`_run_psql`, `_psql_cmd`, `_find_pg_binary`).
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { callRunAll } from "#modules/execution/_file_host.ts";
import { parseRows, passwordLine, type PsqlPlace, psqlWords, type Row, rowsCommand } from "#lib/host/postgres/psql.ts";
import { which } from "#lib/programs/which.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { p } from "#lib/plugins/module.ts";
import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The parameters of most functions: which server, which database to be connected to, and as whom. */
export const CONNECTION = {
  user: p.str(null),
  host: p.str(null),
  port: p.str(null),
  maintenance_db: p.str(null),
  password: p.str(null),
  runas: p.str(null),
};

/** Where psql connects to, and as which user of this host it runs. */
export interface PsqlConnection {
  readonly user: string | null;
  readonly host: string | null;
  readonly port: string | null;
  readonly maintenance_db: string | null;
  readonly password: string | null;
  readonly runas: string | null;
}

/** The same as arguments for another function of `postgres`. */
export function connectionOf({ user, host, port, maintenance_db, password, runas }: PsqlConnection): PsqlConnection {
  return { user, host, port, maintenance_db, password, runas };
}

async function option(context: JobContext, name: string): Promise<string | undefined> {
  const value = await context.call("config.option", [`postgres.${name}`]);
  return truthy(value) ? str(value) : undefined;
}

/** The program's path in the option `postgres.bins_dir`, or its name. */
export async function postgresProgram(name: string, context: JobContext): Promise<string> {
  const directory = await option(context, "bins_dir");
  return (directory === undefined ? undefined : which(`${rstripChars(directory, "/")}/${name}`)) ?? name;
}

/** Runs one of PostgreSQL's programs with a secret in a file that only its user reads, and that is gone afterwards. */
export async function withSecretFile<T>(
  contents: string,
  owner: string | null,
  context: JobContext,
  run: (path: string) => Promise<T>,
): Promise<T> {
  const path = Deno.makeTempFileSync({ prefix: "salt_" });
  try {
    Deno.writeTextFileSync(path, contents);
    if (owner !== null) await context.call("file.chown", [path, owner, ""]);
    return await run(path);
  } finally {
    Deno.removeSync(path);
  }
}

/**
 * Runs psql.
 * @param stdin What it reads, if not nothing.
 * @returns What `cmd.run_all` gives.
 */
export async function psql(
  args: readonly string[],
  connection: PsqlConnection,
  context: JobContext,
  stdin?: string,
): Promise<ValueMap> {
  const host = connection.host || await option(context, "host");
  const local = host === undefined || host === "" || host.startsWith("/");
  // Without a host, the server authenticates its own user by the socket's peer.
  const runas = connection.runas ?? (local ? "postgres" : null);
  const place: PsqlPlace = {
    user: connection.user || await option(context, "user"),
    host,
    port: connection.port || await option(context, "port"),
    database: connection.maintenance_db || await option(context, "maintenance_db"),
  };
  const password = connection.password ?? await option(context, "pass");
  const words = psqlWords(await postgresProgram("psql", context), place, args);
  const run = (env: Value) => runServerProgram(words, { runas, env, stdin }, context);
  const result = password === undefined ? await run(null) : await withSecretFile(
    // Salt leaves out the configured user and port, so that the password is not found if a user is configured.
    passwordLine({ ...place, user: place.user ?? runas ?? undefined }, password),
    runas,
    context,
    (path) => run(new Map([["PGPASSFILE", path]])),
  );
  if (result.get("retcode") !== 0) context.log("error", "Error connecting to Postgresql server");
  return result;
}

/** Runs a program of PostgreSQL as its user. */
export async function runServerProgram(
  words: readonly string[],
  { runas, env, stdin }: { readonly runas: string | null; readonly env: Value; readonly stdin?: string },
  context: JobContext,
): Promise<ValueMap> {
  const timeout = await context.call("config.option", ["postgres.timeout", 0]);
  const more: ValueMap = new Map<Value, Value>([["reset_system_locale", false], ["clean_env", true]]);
  if (truthy(timeout)) more.set("timeout", timeout);
  if (runas !== null) more.set("runas", runas);
  if (env !== null) more.set("env", env);
  if (stdin !== undefined) more.set("stdin", stdin).set("stdin_raw_newlines", true);
  return await callRunAll(context, words, { more });
}

/**
 * Runs commands of SQL.
 * @returns Whether they went well.
 */
export async function executeSql(sql: string, connection: PsqlConnection, context: JobContext): Promise<boolean> {
  return (await psql(["-c", sql], connection, context)).get("retcode") === 0;
}

/**
 * Like {@linkcode executeSql}, of commands with a secret in them: psql reads them, where Salt shows them in the list of
 * processes.
 */
export async function executeSecret(sql: string, connection: PsqlConnection, context: JobContext): Promise<boolean> {
  const result = await psql(["-v", "ON_ERROR_STOP=1", "-f", "-"], connection, context, sql);
  return result.get("retcode") === 0;
}

/** The rows of a query; none if it failed. */
export async function rowsOf(
  query: string,
  connection: PsqlConnection,
  context: JobContext,
  write = false,
): Promise<Row[]> {
  const result = await psql(["-v", "datestyle=ISO,MDY", "-c", rowsCommand(query, write)], connection, context);
  return result.get("retcode") === 0 ? parseRows(str(result.get("stdout") ?? ""), write) : [];
}

/** Rows by one of their columns, which is left out of them. */
export function rowsBy(rows: readonly Row[], column: string): Map<string, Row> {
  return new Map(rows.map(({ [column]: name, ...row }) => [name, row]));
}
