/**
 * Execution module `mysql`: databases.
 * Source: the functions of Salt 3008.3 `salt/modules/mysql.py`.
 * @module
 */

import type { MysqlClient } from "#lib/host/mysql/client.ts";
import { quoteName } from "#lib/host/mysql/quoting.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { str, type Value } from "#lib/values/value.ts";
import { CONNECTED, withMysql } from "./connection.ts";
import { databaseTables, firstColumn } from "./lookups.ts";

export const db_list: ModuleFunction<JobContext> = fn({
  doc: describe("Return the names of the databases.", "mysql.db_list"),
  ...CONNECTED,
  params: {},
  run: (_, context, { kwargs }) =>
    withMysql<Value>(kwargs, context, { connection: [] }, (client) => firstColumn(client, "SHOW DATABASES")),
});

/** What a database has if a table says nothing else. */
interface Defaults {
  readonly characterSet: string;
  readonly collation: string;
}

async function defaultsOf(client: MysqlClient, name: string): Promise<Defaults | undefined> {
  const { rows: [row] } = await client.run((quote) =>
    "SELECT DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME FROM INFORMATION_SCHEMA.SCHEMATA " +
    `WHERE SCHEMA_NAME=${quote(name)}`
  );
  return row === undefined ? undefined : { characterSet: str(row[0]), collation: str(row[1]) };
}

export const db_get: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the character set and the collation of a database; an empty map: there is none.",
    "mysql.db_get test",
  ),
  ...CONNECTED,
  params: { name: p.str() },
  run: ({ name }, context, { kwargs }) =>
    withMysql<Value>(kwargs, context, { connection: [] }, async (client) => {
      const found = await defaultsOf(client, name);
      if (found === undefined) return new Map();
      return new Map([["character_set", found.characterSet], ["collate", found.collation]]);
    }),
});

/** The clauses for a character set and a collation. */
function defaultsSql(characterSet: string | null, collation: string | null): string {
  return (characterSet === null ? "" : ` CHARACTER SET ${quoteName(characterSet)}`) +
    (collation === null ? "" : ` COLLATE ${quoteName(collation)}`);
}

export const alter_db: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Change the character set and the collation of a database. Return whether it succeeded.",
    "mysql.alter_db testdb character_set='latin1'",
  ),
  ...CONNECTED,
  params: { name: p.str(), character_set: p.str(null), collate: p.str(null) },
  run: ({ name, character_set, collate }, context, { kwargs }) =>
    withMysql<Value>(kwargs, context, { connection: [], statement: false }, async (client) => {
      const known = await defaultsOf(client, name);
      const wanted = defaultsSql(character_set || (known?.characterSet ?? null), collate || (known?.collation ?? null));
      return (await client.run(() => `ALTER DATABASE ${quoteName(name)}${wanted}`)).affected > 0;
    }),
});

async function isDatabase(client: MysqlClient, name: string): Promise<boolean> {
  return await defaultsOf(client, name) !== undefined;
}

export const db_tables: ModuleFunction<JobContext> = fn({
  doc: describe("Return the names of a database's tables; False: there is no database.", "mysql.db_tables 'database'"),
  ...CONNECTED,
  params: { name: p.str() },
  run: ({ name }, context, { kwargs }) =>
    withMysql<Value>(
      kwargs,
      context,
      { connection: false, statement: [] },
      async (client) => await isDatabase(client, name) && await databaseTables(client, name),
    ),
});

export const db_exists: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether there is a database.", "mysql.db_exists 'dbname'"),
  ...CONNECTED,
  params: { name: p.str() },
  run: ({ name }, context, { kwargs }) =>
    withMysql(kwargs, context, { connection: false }, (client) => isDatabase(client, name)),
});

export const db_create: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make a database. Return whether it was made: False if there is one.",
    "mysql.db_create 'dbname'",
    "mysql.db_create 'dbname' 'utf8' 'utf8_general_ci'",
  ),
  ...CONNECTED,
  params: { name: p.str(), character_set: p.str(null), collate: p.str(null) },
  run: ({ name, character_set, collate }, context, { kwargs }) =>
    withMysql(kwargs, context, { connection: false }, async (client) => {
      if (await isDatabase(client, name)) return false;
      const statement = `CREATE DATABASE IF NOT EXISTS ${quoteName(name)}${defaultsSql(character_set, collate)}`;
      return (await client.run(() => statement)).affected > 0;
    }),
});

/** Databases without which there is no server. */
const KEPT = ["mysql", "information_schema"];

export const db_remove: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a database. Return whether it was removed.", "mysql.db_remove 'dbname'"),
  ...CONNECTED,
  params: { name: p.str() },
  run: ({ name }, context, { kwargs }) =>
    withMysql(kwargs, context, { connection: false }, async (client) => {
      if (!await isDatabase(client, name) || KEPT.includes(name)) return false;
      await client.run(() => `DROP DATABASE ${quoteName(name)}`);
      return !await isDatabase(client, name);
    }),
});
