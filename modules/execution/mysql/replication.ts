/**
 * Execution module `mysql`: masters and slaves of replication.
 * Source: the functions of Salt 3008.3 `salt/modules/mysql.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { takeMysqlError } from "#lib/host/mysql/last_error.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import type { Value } from "#lib/values/value.ts";
import { CONNECTED, withMysql } from "./connection.ts";

export const slave_lag: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return by how many seconds a slave is behind its master; -1: the server is no slave; -2: its replication does not run; -3: it cannot " +
      "be asked.",
    "mysql.slave_lag",
  ),
  ...CONNECTED,
  params: {},
  run: (_, context, { kwargs }) =>
    withMysql<Value>(kwargs, context, { connection: -3 }, async (client) => {
      const [row] = await client.maps(() => "SHOW SLAVE STATUS");
      if (row === undefined) return -1;
      return row.get("Slave_IO_Running") === "Yes" ? row.get("Seconds_Behind_Master") ?? null : -2;
    }),
});

export const free_slave: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Free a slave from its master, whose logs are flushed if it answers. Return promoted, or failed.",
    "mysql.free_slave",
  ),
  ...CONNECTED,
  params: {},
  run: (_, context, { kwargs }) =>
    withMysql(kwargs, context, { connection: "", statement: "failed" }, async (client) => {
      const [row] = await client.maps(() => "SHOW SLAVE STATUS");
      if (row === undefined) throw new CommandError("This server is no slave");
      const master = new Map([...kwargs, ["connection_host", row.get("Master_Host") ?? null]]);
      const isFlushed = await withMysql(
        master,
        context,
        { connection: undefined, statement: false },
        async (other) => (await other.run(() => "FLUSH LOGS"), true),
      );
      if (isFlushed === undefined) return "";
      if (!isFlushed) takeMysqlError(context);
      await client.run(() => "STOP SLAVE");
      await client.run(() => "RESET MASTER");
      await client.run(() => "CHANGE MASTER TO MASTER_HOST=''");
      const left = await client.maps(() => "SHOW SLAVE STATUS");
      return left.length === 0 ? "promoted" : "failed";
    }),
});

/** A function that returns the one row of a statement, or an empty list. */
function oneRow(name: string, what: string, statement: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`Return the status of the server as a ${what}; an empty list: it is none.`, name),
    ...CONNECTED,
    params: {},
    run: (_, context, { kwargs }) =>
      withMysql<Value>(
        kwargs,
        context,
        { connection: [] },
        async (client) => (await client.maps(() => statement)).at(0) ?? [],
      ),
  });
}

export const get_master_status: ModuleFunction<JobContext> = oneRow(
  "mysql.get_master_status",
  "master",
  "SHOW MASTER STATUS",
);
export const get_slave_status: ModuleFunction<JobContext> = oneRow(
  "mysql.get_slave_status",
  "slave",
  "SHOW SLAVE STATUS",
);
