/**
 * Execution module `mysql`: what a server says about itself.
 * Source: the functions of Salt 3008.3 `salt/modules/mysql.py`.
 * @module
 */

import { takeMysqlError } from "#lib/host/mysql/last_error.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Value } from "#lib/values/value.ts";
import { CONNECTED, rowsFunction, serverVersion, withMysql } from "./connection.ts";

export const status: ModuleFunction<JobContext> = fn({
  doc: describe("Return the status of the server.", "mysql.status"),
  ...CONNECTED,
  params: {},
  run: (_, context, { kwargs }) =>
    withMysql<Value>(kwargs, context, { connection: new Map() }, async (client) => {
      const { rows } = await client.run(() => "SHOW STATUS");
      return new Map(rows.map(([name, value]): [Value, Value] => [name, value]));
    }),
});

export const version: ModuleFunction<JobContext> = fn({
  doc: describe("Return the version of the server.", "mysql.version"),
  ...CONNECTED,
  params: {},
  run: (_, context, { kwargs }) => withMysql(kwargs, context, { connection: "" }, serverVersion),
});

export const processlist: ModuleFunction<JobContext> = rowsFunction(
  describe("Return what the server's connections do, a list of maps.", "mysql.processlist"),
  "SHOW FULL PROCESSLIST",
);

/** A function that lists variables: a map for each, of its name and its value. */
function variables(name: string, statement: string): ModuleFunction<JobContext> {
  const doc = describe(`Return the variables of ${statement}, a list of maps.`, name);
  return rowsFunction(doc, statement, { connection: [], statement: [[]] });
}

export const showvariables: ModuleFunction<JobContext> = variables("mysql.showvariables", "SHOW VARIABLES");
export const showglobal: ModuleFunction<JobContext> = variables("mysql.showglobal", "SHOW GLOBAL VARIABLES");

export const verify_login: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a user can log in with a password.", "mysql.verify_login root password"),
  ...CONNECTED,
  params: { user: p.str(), password: p.str(null) },
  async run({ user, password }, context, { kwargs }) {
    const given = new Map([...kwargs, ["connection_user", user], ["connection_pass", password]]);
    const isIn = await withMysql(given, context, { connection: false }, () => Promise.resolve(true));
    if (!isIn) takeMysqlError(context);
    return isIn;
  },
});
