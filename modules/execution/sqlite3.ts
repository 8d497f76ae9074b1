/**
 * Execution module `sqlite3`: SQLite databases.
 * Source: the functions of Salt 3008.3 `salt/modules/sqlite3.py`.
 * @module
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { CommandError, messageOf } from "#lib/errors.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";
import { prepareStatement } from "#lib/os/sqlite_statement.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { float, int, toValue, type Value } from "#lib/values/value.ts";

/** The version of Python's library, which Salt's `version` returns; it has not changed since Python 2.5. */
const LIBRARY_VERSION = "2.6.0";
/** Milliseconds to wait for another process that writes, as Python's library does. */
const TIMEOUT_MS = 5000;

/** @throws {CommandError} With what SQLite says. */
function within<T>(path: string, use: (database: DatabaseSync) => T): T {
  try {
    const { DatabaseSync } = nodeBuiltin("node:sqlite");
    const database = new DatabaseSync(path, { timeout: TIMEOUT_MS });
    try {
      return use(database);
    } finally {
      database.close();
    }
  } catch (error) {
    throw new CommandError(messageOf(error), { cause: error });
  }
}

/** Makes rows lists: two columns of one name would be one field. The runtime has this, and its types do not name it. */
function returnArrays(statement: StatementSync): void {
  const method: unknown = Reflect.get(statement, "setReturnArrays");
  if (typeof method === "function") Reflect.apply(method, statement, [true]);
}

/** A column's value. Whole numbers are read as `bigint`, so that what is a `number` is a float. */
function columnValue(column: unknown): Value {
  if (typeof column === "bigint") return int(column);
  return typeof column === "number" ? float(column) : toValue(column);
}

/** The rows of a query, each a list of its columns; False without a database. */
function rows(db: string | null, sql: string): Value {
  if (db === null) return false;
  return within(db, (database) => {
    const statement = prepareStatement(database, sql);
    if (statement === undefined) return [];
    statement.setReadBigInts(true);
    returnArrays(statement);
    return statement.all().map((row) => Object.values(row).map(columnValue));
  });
}

export const version: ModuleFunction<JobContext> = fn({
  doc: describe("Return the version of the library that Salt uses.", "sqlite3.version"),
  params: {},
  run: () => LIBRARY_VERSION,
});

export const sqlite_version: ModuleFunction<JobContext> = fn({
  doc: describe("Return the version of SQLite.", "sqlite3.sqlite_version"),
  permissions: "all",
  params: {},
  run: () => within(":memory:", (database) => String(database.prepare("SELECT sqlite_version() AS v").get()?.v)),
});

export const modify: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Run a statement that changes a database.",
    "sqlite3.modify /root/test.db 'CREATE TABLE test(id INT, testdata TEXT);'",
  ),
  permissions: "all",
  params: { db: p.str(null), sql: p.str(null) },
  run({ db, sql }) {
    if (db === null) return false;
    within(db, (database) => prepareStatement(database, sql ?? "")?.run());
    return true;
  },
});

export const fetch: ModuleFunction<JobContext> = fn({
  doc: describe("Return all rows of a query.", "sqlite3.fetch /root/test.db 'SELECT * FROM test;'"),
  permissions: "all",
  params: { db: p.str(null), sql: p.str(null) },
  run: ({ db, sql }) => rows(db, sql ?? ""),
});

/** A function that lists what a database has. */
function listing(kind: "table" | "index", text: string, name: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(text, `sqlite3.${name} /root/test.db`),
    permissions: "all",
    params: { db: p.str(null) },
    run: ({ db }) => rows(db, `SELECT name FROM sqlite_master WHERE type='${kind}' ORDER BY name;`),
  });
}

export const tables: ModuleFunction<JobContext> = listing("table", "Return the tables of a database.", "tables");
export const indices: ModuleFunction<JobContext> = listing("index", "Return the indices of a database.", "indices");
export const indexes: ModuleFunction<JobContext> = listing("index", "Return the indices of a database.", "indexes");
