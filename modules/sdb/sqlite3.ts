/**
 * Driver `sqlite3` of sdb: values in a table of an SQLite database, as MessagePack.
 * Source: Salt 3006.28 `salt/sdb/sqlite3.py`, which Salt 3008 has no longer.
 * @module
 */

import type { DatabaseSync } from "node:sqlite";
import { CommandError, messageOf } from "#lib/errors.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";
import { prepareStatement } from "#lib/os/sqlite_statement.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** Milliseconds to wait for another process that writes. */
const TIMEOUT_MS = 5000;

/** A name of a table as SQL has it. */
function quoteName(name: string): string {
  return `"${name.replaceAll("\0", "").replaceAll('"', '""')}"`;
}

/** Makes the tables; those that are there are left as they are. */
function makeTables(database: DatabaseSync, profile: ValueMap, table: string): void {
  const own = listOrEmpty(profile.get("create_statements")).map(str);
  const usual = truthy(profile.get("create_table") ?? true)
    ? [
      `CREATE TABLE ${quoteName(table)} (key text, value blob)`,
      `CREATE UNIQUE INDEX ${quoteName(`${table}_idx`)} ON ${quoteName(table)} (key)`,
    ]
    : [];
  for (const statement of own.length > 0 ? own : usual) {
    try {
      database.exec(statement);
    } catch (error) {
      // Salt takes every error of a statement for a table that is there. What is really wrong fails below.
      if (!(error instanceof Error)) throw error;
      return;
    }
  }
}

function within<T>(profile: ValueMap, use: (database: DatabaseSync, table: string) => T): T {
  const path = profile.get("database");
  if (typeof path !== "string") throw new CommandError("The profile of sdb names no database");
  const table = str(profile.get("table") ?? "sdb");
  try {
    const { DatabaseSync } = nodeBuiltin("node:sqlite");
    const database = new DatabaseSync(path, { timeout: TIMEOUT_MS });
    try {
      makeTables(database, profile, table);
      return use(database, quoteName(table));
    } finally {
      database.close();
    }
  } catch (error) {
    throw new CommandError(`${path}: ${messageOf(error)}`, { cause: error });
  }
}

/** The value of a key; None: there is none. */
export function get(key: string, profile: ValueMap): Value {
  return within(profile, (database, table) => {
    const query = str(profile.get("get_query") ?? `SELECT value FROM ${table} WHERE key=:key`);
    const row = prepareStatement(database, query)?.get({ key });
    const [value] = row === undefined ? [] : Object.values(row);
    if (value === undefined || value === null) return null;
    return decode(value instanceof Uint8Array ? value : new TextEncoder().encode(String(value)), "disk");
  });
}

/** Stores a value. */
export function set(key: string, value: Value, profile: ValueMap): Value {
  return within(profile, (database, table) => {
    const query = str(profile.get("set_query") ?? `INSERT OR REPLACE INTO ${table} VALUES (:key, :value)`);
    prepareStatement(database, query)?.run({ key, value: encode(value, "disk") });
    return true;
  });
}
