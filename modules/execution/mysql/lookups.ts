/**
 * Lists that several functions of `mysql` ask a server for.
 * Source: Salt 3008.3 `salt/modules/mysql.py`.
 * @module
 */

import type { MysqlClient } from "#lib/host/mysql/client.ts";
import { quoteName } from "#lib/host/mysql/quoting.ts";
import { str, type Value } from "#lib/values/value.ts";

/** The first column of a statement's rows. */
export async function firstColumn(client: MysqlClient, statement: string): Promise<Value[]> {
  return (await client.run(() => statement)).rows.map(([name]) => name);
}

/** The names of a database's tables. */
export async function databaseTables(client: MysqlClient, name: string): Promise<Value[]> {
  return await firstColumn(client, `SHOW TABLES IN ${quoteName(name)}`);
}

/** The status of a plugin; empty: it is not installed. */
export async function pluginStatus(client: MysqlClient, name: string): Promise<string> {
  const { rows: [row] } = await client.run((quote) =>
    `SELECT PLUGIN_STATUS FROM INFORMATION_SCHEMA.PLUGINS WHERE PLUGIN_NAME = ${quote(name)}`
  );
  return row === undefined ? "" : str(row[0]);
}
