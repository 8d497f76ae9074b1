/**
 * Execution module `mysql`: checks and repairs of tables.
 * Source: the functions of Salt 3008.3 `salt/modules/mysql.py`.
 * @module
 */

import { quoteName } from "#lib/host/mysql/quoting.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { str, type Value } from "#lib/values/value.ts";
import { CONNECTED, withMysql } from "./connection.ts";
import { databaseTables } from "./lookups.ts";

/** A function that runs a statement for a table, or for each table of a database. */
function forTables(name: string, verb: string, doc: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`${doc} Return what the server says.`, `${name} dbname`, `${name} dbname dbtable`),
    ...CONNECTED,
    params: { name: p.str(), table: p.str(null) },
    run: ({ name: database, table }, context, { kwargs }) =>
      withMysql<Value>(kwargs, context, { connection: table === null ? [] : new Map() }, async (client) => {
        const run = (one: string) => client.maps(() => `${verb} TABLE ${quoteName(database)}.${quoteName(one)}`);
        if (table !== null) return await run(table);
        const answers: Value[] = [];
        for (const one of await databaseTables(client, database)) answers.push(await run(str(one)));
        return answers;
      }),
  });
}

export const db_check: ModuleFunction<JobContext> = forTables(
  "mysql.db_check",
  "CHECK",
  "Check a table, or all tables of a database.",
);
export const db_repair: ModuleFunction<JobContext> = forTables(
  "mysql.db_repair",
  "REPAIR",
  "Repair a table, or all tables of a database.",
);
export const db_optimize: ModuleFunction<JobContext> = forTables(
  "mysql.db_optimize",
  "OPTIMIZE",
  "Optimize a table, or all tables of a database.",
);
