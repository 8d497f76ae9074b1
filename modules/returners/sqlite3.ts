/**
 * Returner `sqlite3`: stores loads and returns in an SQLite database, whose tables it makes.
 * Source: Salt 3007.15 `salt/returners/sqlite3_return.py`. There a job of several minions is read as one of them.
 * @module
 */

import type { DatabaseSync } from "node:sqlite";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";
import { formatStartedJob } from "#lib/jobs/listing.ts";
import { p } from "#lib/plugins/module.ts";
import { type ReturnerContext, returnerFn, type ReturnerFunction } from "#lib/plugins/returner.ts";
import { readReturnerJson, returnerJson, returnRow } from "#lib/returners/fields.ts";
import { ReturnerOptions } from "#lib/returners/options.ts";
import { isMap, repr, type Value, type ValueMap } from "#lib/values/value.ts";

/** Seconds to wait for a lock if the option `sqlite3.timeout` is not set. */
const TIMEOUT_S = 5;

const TABLES = `
CREATE TABLE IF NOT EXISTS jids (jid TEXT PRIMARY KEY, load TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS salt_returns (
  fun TEXT KEY, jid TEXT KEY, id TEXT KEY, fun_args TEXT, date TEXT NOT NULL, full_ret TEXT NOT NULL, success TEXT NOT NULL
);`;

const PERMISSIONS = "all";

export const returner: ReturnerFunction = returnerFn({
  doc: "Store the return in the SQLite database that the option sqlite3.database names.",
  params: { ret: p.dict() },
  permissions: PERMISSIONS,
  run: ({ ret }, context) =>
    within(context, ret, (database) => {
      const { fun, jid, id, success, returned } = returnRow(ret);
      const args = ret.get("fun_args");
      database.prepare(
        "INSERT INTO salt_returns (fun, jid, id, fun_args, date, full_ret, success) VALUES (?, ?, ?, ?, ?, ?, ?)",
      ).run(fun, jid, id, args === undefined ? null : repr(args), now(), returned, success ? "1" : "0");
      return null;
    }),
});

export const save_load: ReturnerFunction = returnerFn({
  doc: "Store the load of a job.",
  params: { jid: p.str(), load: p.dict(), minions: p.any(null) },
  permissions: PERMISSIONS,
  run: ({ jid, load }, context) =>
    within(context, undefined, (database) => {
      database.prepare("INSERT OR IGNORE INTO jids (jid, load) VALUES (?, ?)").run(jid, returnerJson(load));
      return null;
    }),
});

export const get_load: ReturnerFunction = returnerFn({
  doc: "Return the load of a job.",
  params: { jid: p.str() },
  permissions: PERMISSIONS,
  run: ({ jid }, context) =>
    within(context, undefined, (database) => {
      const [row] = database.prepare("SELECT load FROM jids WHERE jid = ?").all(jid);
      const load = row === undefined ? null : readReturnerJson(String(row.load));
      return isMap(load) ? load : new Map();
    }),
});

export const get_jid: ReturnerFunction = returnerFn({
  doc: "Return what the minions returned for a job, by minion.",
  params: { jid: p.str() },
  permissions: PERMISSIONS,
  run: ({ jid }, context) =>
    within(context, undefined, (database) => {
      const rows = database.prepare("SELECT id, full_ret FROM salt_returns WHERE jid = ?").all(jid);
      return new Map<Value, Value>(
        rows.map(({ id, full_ret }) => [String(id), new Map([["return", readReturnerJson(String(full_ret))]])]),
      );
    }),
});

export const get_fun: ReturnerFunction = returnerFn({
  doc: "Return the last return of a function, by minion.",
  params: { fun: p.str() },
  permissions: PERMISSIONS,
  run: ({ fun }, context) =>
    within(context, undefined, (database) => {
      const rows = database.prepare("SELECT id, full_ret FROM salt_returns WHERE fun = ? ORDER BY jid, date").all(fun);
      // The last row of a minion wins.
      return new Map<Value, Value>(rows.map(({ id, full_ret }) => [String(id), readReturnerJson(String(full_ret))]));
    }),
});

export const get_jids: ReturnerFunction = returnerFn({
  doc: "Return all jobs, by jid.",
  params: {},
  permissions: PERMISSIONS,
  run: (_none, context) =>
    within(context, undefined, (database) => {
      const rows = database.prepare("SELECT jid, load FROM jids ORDER BY jid").all();
      return new Map<Value, Value>(rows.map(({ jid, load }) => {
        const value = readReturnerJson(String(load));
        return [String(jid), formatStartedJob(String(jid), isMap(value) ? value : undefined)];
      }));
    }),
});

export const get_minions: ReturnerFunction = returnerFn({
  doc: "Return the ids of the minions that have returned.",
  params: {},
  permissions: PERMISSIONS,
  run: (_none, context) =>
    within(
      context,
      undefined,
      (database) =>
        database.prepare("SELECT DISTINCT id FROM salt_returns ORDER BY id").all().map(({ id }) => String(id)),
    ),
});

/** Runs `use` with the database, which is closed afterwards. */
function within<T>(context: ReturnerContext, ret: ValueMap | undefined, use: (database: DatabaseSync) => T): T {
  const options = new ReturnerOptions(["sqlite3", "returner.sqlite3"], context, ret);
  const { DatabaseSync } = nodeBuiltin("node:sqlite");
  const timeout = (options.integer("timeout") ?? TIMEOUT_S) * 1000;
  const database = new DatabaseSync(options.required("database"), { timeout });
  try {
    database.exec(TABLES);
    return use(database);
  } finally {
    database.close();
  }
}

/** The local time as Python's `str(datetime.now())` has it. */
function now(): string {
  const date = new Date();
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return `${local.toISOString().slice(0, -1).replace("T", " ")}000`;
}
