/**
 * Returners that store in the tables of an SQL database, as Salt's do: `jids` has loads, `salt_returns` returns,
 * `salt_events` events. A returner of one database is this code with its {@linkcode SqlStore}.
 * Source: Salt 3008.3 `salt/returners/{pgjsonb,postgres}.py`, 3007.15 `salt/returners/mysql.py`.
 * @module
 */

import { p } from "#lib/plugins/module.ts";
import { type ReturnerContext, returnerFn, type ReturnerFunction } from "#lib/plugins/returner.ts";
import { formatStartedJob } from "#lib/jobs/listing.ts";
import { isMap, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";
import { readReturnerJson, returnedEvents, returnerJson, returnRow } from "./fields.ts";

/** A parameter of a statement. */
export type SqlParameter = string | number;

/** A row: texts by column. */
export type SqlRow = Readonly<Record<string, string | undefined>>;

/** An open connection. Statements have `?` for each parameter. */
export interface SqlClient {
  query(statement: string, parameters?: readonly SqlParameter[]): Promise<readonly SqlRow[]>;
  close(): Promise<void>;
}

/** What differs between databases. */
export interface SqlStore {
  /** The name of the returner, for documentation. */
  readonly name: string;
  /** The options, for documentation. */
  readonly options: string;
  /** @param ret The return, whose `ret_config` and `ret_kwargs` choose options. */
  connect(context: ReturnerContext, ret?: ValueMap): Promise<SqlClient>;
  /** The column `return`, whose name some databases reserve. */
  readonly returnColumn: string;
  /** How a column of JSON is read as text. */
  asText(column: string): string;
  /** The text of the column `success`. */
  success(success: boolean): string;
  /** Stores a load, parameters jid and load: a load that is there is replaced or stays. */
  readonly saveLoad: string;
  /** An expression for the time before which `?` seconds have passed. */
  readonly secondsAgo: string;
}

/** The permissions of a returner that connects to a server or opens a database: its library asks for much. */
const PERMISSIONS = "all";

/** The functions of a returner. */
export interface SqlReturner {
  readonly returner: ReturnerFunction;
  readonly save_load: ReturnerFunction;
  readonly event_return: ReturnerFunction;
  readonly get_load: ReturnerFunction;
  readonly get_jid: ReturnerFunction;
  readonly get_fun: ReturnerFunction;
  readonly get_jids: ReturnerFunction;
  readonly get_minions: ReturnerFunction;
  readonly clean_old_jobs: ReturnerFunction;
}

/** Makes the returner of a database. */
export function sqlReturner(store: SqlStore): SqlReturner {
  return { ...writers(store), ...readers(store), ...cleaner(store) };
}

function writers(store: SqlStore): Pick<SqlReturner, "returner" | "save_load" | "event_return"> {
  const { name, options, returnColumn } = store;
  return {
    returner: returnerFn({
      doc: `Store the return in ${name}. Options: ${options}.`,
      params: { ret: p.dict() },
      permissions: PERMISSIONS,
      run: ({ ret }, context) =>
        within(store, { context, ret }, async (client) => {
          const row = returnRow(ret);
          await client.query(
            `INSERT INTO salt_returns (fun, jid, ${returnColumn}, id, success, full_ret) VALUES (?, ?, ?, ?, ?, ?)`,
            [row.fun, row.jid, row.returned, row.id, store.success(row.success), row.full],
          );
          return null;
        }),
    }),
    save_load: returnerFn({
      doc: `Store the load of a job in ${name}.`,
      params: { jid: p.str(), load: p.dict(), minions: p.any(null) },
      permissions: PERMISSIONS,
      run: ({ jid, load }, context) =>
        within(store, { context }, async (client) => {
          await client.query(store.saveLoad, [jid, returnerJson(load)]);
          return null;
        }),
    }),
    event_return: returnerFn({
      doc: `Store events in ${name}.`,
      params: { events: p.list() },
      permissions: PERMISSIONS,
      run: ({ events }, context) =>
        within(store, { context }, async (client) => {
          for (const { tag, data } of returnedEvents(events)) {
            const parameters = [tag, returnerJson(data), context.opts.id ?? ""];
            await client.query("INSERT INTO salt_events (tag, data, master_id) VALUES (?, ?, ?)", parameters);
          }
          return null;
        }),
    }),
  };
}

type Readers = "get_load" | "get_jid" | "get_fun" | "get_jids" | "get_minions";

function readers(store: SqlStore): Pick<SqlReturner, Readers> {
  const load = store.asText("load"), full = store.asText("full_ret");
  const read = (statement: string, parameters: readonly SqlParameter[], context: ReturnerContext) =>
    within(store, { context }, (client) => client.query(statement, parameters));
  return {
    get_load: returnerFn({
      doc: "Return the load of a job.",
      params: { jid: p.str() },
      permissions: PERMISSIONS,
      async run({ jid }, context) {
        const [row] = await read(`SELECT ${load} AS stored FROM jids WHERE jid = ?`, [jid], context);
        return storedMap(row);
      },
    }),
    get_jid: returnerFn({
      doc: "Return the returns of a job, by minion.",
      params: { jid: p.str() },
      permissions: PERMISSIONS,
      async run({ jid }, context) {
        const rows = await read(`SELECT id, ${full} AS stored FROM salt_returns WHERE jid = ?`, [jid], context);
        return new Map(rows.map((row) => [row.id ?? "", storedMap(row)]));
      },
    }),
    get_fun: returnerFn({
      doc: "Return the last return of a function, by minion.",
      params: { fun: p.str() },
      permissions: PERMISSIONS,
      async run({ fun }, context) {
        const newest = "SELECT id, MAX(alter_time) AS newest FROM salt_returns WHERE fun = ? GROUP BY id";
        const statement = `SELECT s.id AS id, ${store.asText("s.full_ret")} AS stored FROM salt_returns s ` +
          `JOIN (${newest}) m ON s.id = m.id AND s.alter_time = m.newest WHERE s.fun = ?`;
        const rows = await read(statement, [fun, fun], context);
        return new Map(rows.map((row) => [row.id ?? "", storedMap(row)]));
      },
    }),
    get_jids: returnerFn({
      doc: "Return all jobs, by jid.",
      params: {},
      permissions: PERMISSIONS,
      async run(_none, context) {
        const rows = await read(`SELECT jid, ${load} AS stored FROM jids ORDER BY jid`, [], context);
        return new Map(rows.map((row) => [row.jid ?? "", formatStartedJob(row.jid ?? "", storedMap(row))]));
      },
    }),
    get_minions: returnerFn({
      doc: "Return the ids of the minions that have returned.",
      params: {},
      permissions: PERMISSIONS,
      async run(_none, context) {
        const rows = await read("SELECT DISTINCT id FROM salt_returns ORDER BY id", [], context);
        return rows.map(({ id }) => id ?? "");
      },
    }),
  };
}

function cleaner(store: SqlStore): Pick<SqlReturner, "clean_old_jobs"> {
  return {
    clean_old_jobs: returnerFn({
      doc: "Remove jobs whose returns are all older than the option keep_jobs_seconds; 0 keeps them.",
      params: {},
      permissions: PERMISSIONS,
      run: (_none, context) =>
        within(store, { context }, async (client) => {
          const seconds = toNumber(keepSeconds(context)) ?? 0;
          if (seconds <= 0) return null;
          // A job goes only if it has returns, and none of them is young.
          const old = `(SELECT jid FROM salt_returns GROUP BY jid HAVING MAX(alter_time) < ${store.secondsAgo})`;
          await client.query(`DELETE FROM jids WHERE jid IN ${old}`, [seconds]);
          await client.query(`DELETE FROM salt_returns WHERE alter_time < ${store.secondsAgo}`, [seconds]);
          return null;
        }),
    }),
  };
}

function keepSeconds({ opts }: ReturnerContext): Value {
  return "keep_jobs_seconds" in opts ? opts.keep_jobs_seconds : 0;
}

/** The column `stored` of a row, a map as JSON; an empty map if there is no row. */
function storedMap(row: SqlRow | undefined): ValueMap {
  const value = row?.stored === undefined ? null : readReturnerJson(row.stored);
  return isMap(value) ? value : new Map();
}

/** Runs `use` with a connection, which is closed afterwards. */
async function within<T>(
  store: SqlStore,
  { context, ret }: { readonly context: ReturnerContext; readonly ret?: ValueMap },
  use: (client: SqlClient) => Promise<T>,
): Promise<T> {
  const client = await store.connect(context, ret);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

/** A statement with `$1`, `$2`, … in place of each `?`. */
export function numbered(statement: string): string {
  let n = 0;
  return statement.replaceAll("?", () => `$${++n}`);
}

/** A row of a library, with its values as texts. */
export function textRow(row: object): SqlRow {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]: [string, unknown]) => [
      column,
      value === null || value === undefined ? undefined : typeof value === "string" ? value : String(value),
    ]),
  );
}
