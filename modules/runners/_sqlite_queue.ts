/**
 * Queues of texts on the master: an SQLite database each, `NAME.db` in `sqlite_queue_dir`, in the form of Salt's
 * driver.
 * Source: Salt 3006.28 `salt/queues/sqlite_queue.py`, which Salt 3008 has no longer.
 * @module
 */

import type { DatabaseSync } from "node:sqlite";
import { CommandError, InvocationError, messageOf } from "#lib/errors.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";
import { safePath } from "#lib/files/backends/safe_path.ts";
import { dumpJson } from "#lib/values/json.ts";
import { isMap, repr, str, type Value } from "#lib/values/value.ts";

/** Milliseconds to wait for another process that writes, as Python's library does. */
const TIMEOUT_MS = 5000;

/** Runs `use` with the database of a queue, which is made if it is not there, and the quoted name of its table. */
function within<T>(directory: string, queue: string, use: (database: DatabaseSync, table: string) => T): T {
  if (safePath(queue) !== queue || /[/\p{Cc}]/u.test(queue) || queue.startsWith(".")) {
    throw new InvocationError(`Invalid name of a queue: ${repr(queue)}`);
  }
  const table = `"${queue.replaceAll('"', '""')}"`;
  try {
    Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
    const { DatabaseSync } = nodeBuiltin("node:sqlite");
    const database = new DatabaseSync(`${directory}/${queue}.db`, { timeout: TIMEOUT_MS });
    try {
      database.exec(`CREATE TABLE IF NOT EXISTS ${table} (id INTEGER PRIMARY KEY, name TEXT UNIQUE)`);
      // Two that take items at once must not take the same ones.
      database.exec("BEGIN IMMEDIATE");
      const result = use(database, table);
      database.exec("COMMIT");
      return result;
    } finally {
      database.close();
    }
  } catch (error) {
    if (error instanceof CommandError || error instanceof InvocationError) throw error;
    throw new CommandError(`${directory}/${queue}.db: ${messageOf(error)}`, { cause: error });
  }
}

/** An item as it is stored: a map is JSON with single quotes, as Salt stores it. */
function textOf(item: Value): string {
  if (!isMap(item)) return str(item);
  const json = dumpJson(item);
  // Salt's form cannot tell an apostrophe from a quote.
  return json.includes("'") ? json : json.replaceAll('"', "'");
}

function textsOf(items: Value): string[] {
  return (Array.isArray(items) ? items : [items]).map(textOf);
}

/** The names of the queues, sorted. */
export function listQueues(directory: string): string[] {
  try {
    const names = [...Deno.readDirSync(directory)].map(({ name }) => name);
    return names.filter((name) => name.endsWith(".db") && !name.startsWith(".")).map((name) => name.slice(0, -3))
      .sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** The items of a queue, in the order in which they are taken. */
export function listItems(directory: string, queue: string): string[] {
  return within(directory, queue, (database, table) => select(database, `SELECT name FROM ${table}`));
}

function select(database: DatabaseSync, sql: string): string[] {
  return database.prepare(sql).all().map(({ name }) => String(name));
}

/** Adds items: True, or a text that says that one is there; those before it are added. */
export function insertItems(directory: string, queue: string, items: Value): Value {
  return within(directory, queue, (database, table) => {
    const statement = database.prepare(`INSERT INTO ${table} (name) VALUES (?)`);
    try {
      for (const text of textsOf(items)) statement.run(text);
      return true;
    } catch (error) {
      const reason = messageOf(error);
      if (!reason.includes("UNIQUE constraint failed")) throw error;
      const what = Array.isArray(items) ? "One or more items already exists" : "Item already exists";
      return `${what} in this queue. sqlite error: ${reason}`;
    }
  });
}

/** Removes items; those that are not there are no error. */
export function deleteItems(directory: string, queue: string, items: Value): true {
  return within(directory, queue, (database, table) => {
    const statement = database.prepare(`DELETE FROM ${table} WHERE name = ?`);
    for (const text of textsOf(items)) statement.run(text);
    return true;
  });
}

/** @throws {InvocationError} If it is neither a number nor `all`. */
function limitOf(quantity: Value): string {
  if (quantity === "all") return "";
  const text = str(quantity).trim();
  if (/^[+-]?\d{1,15}$/.test(text)) return ` LIMIT ${Number(text)}`;
  const reason = `invalid literal for int() with base 10: ${repr(quantity)}`;
  throw new InvocationError(`Quantity must be an integer or "all".\nError: "${reason}".`);
}

/** Takes items out of a queue: so many, or all. */
export function popItems(directory: string, queue: string, quantity: Value): string[] {
  const limit = limitOf(quantity);
  return within(directory, queue, (database, table) => {
    const items = select(database, `SELECT name FROM ${table}${limit}`);
    const statement = database.prepare(`DELETE FROM ${table} WHERE name = ?`);
    for (const text of items) statement.run(text);
    return items;
  });
}
