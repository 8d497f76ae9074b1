/**
 * Returner `mysql`: stores loads, returns and events in MySQL or MariaDB.
 * Source: Salt 3007.15 `salt/returners/mysql.py`.
 * @module
 */

import { UnstorableError } from "#lib/errors.ts";
import type { ReturnerContext, ReturnerFunction } from "#lib/plugins/returner.ts";
import { ReturnerOptions } from "#lib/returners/options.ts";
import { type SqlClient, sqlReturner, textRow } from "#lib/returners/sql_returner.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import type { ValueMap } from "#lib/values/value.ts";

/** Errors that say that the values are wrong: too large a packet, a wrong value, too long a text. */
const CONTENT_ERRORS = [1153, 1264, 1366, 1406, 3140];
/** Milliseconds until a connection is given up. */
const CONNECT_MS = 10_000;

const functions = sqlReturner({
  name: "MySQL",
  options: "mysql.host, .port, .user, .pass, .db, .ssl_ca, .ssl_cert, .ssl_key",
  connect,
  returnColumn: "`return`",
  asText: (column) => column === "load" ? "`load`" : column,
  success: (success) => success ? "1" : "0",
  saveLoad: "INSERT IGNORE INTO jids (jid, `load`) VALUES (?, ?)",
  secondsAgo: "now() - INTERVAL ? SECOND",
});

export const returner: ReturnerFunction = functions.returner;
export const save_load: ReturnerFunction = functions.save_load;
export const event_return: ReturnerFunction = functions.event_return;
export const get_load: ReturnerFunction = functions.get_load;
export const get_jid: ReturnerFunction = functions.get_jid;
export const get_fun: ReturnerFunction = functions.get_fun;
export const get_jids: ReturnerFunction = functions.get_jids;
export const get_minions: ReturnerFunction = functions.get_minions;
export const clean_old_jobs: ReturnerFunction = functions.clean_old_jobs;

async function connect(context: ReturnerContext, ret?: ValueMap): Promise<SqlClient> {
  const options = new ReturnerOptions(["mysql"], context, ret);
  const library: typeof import("#lib/host/mysql/mysql_library.ts") = await import(
    new URL("../../lib/host/mysql/mysql_library.ts", import.meta.url).href
  );
  const file = (name: string) => {
    const path = options.text(name);
    return path === undefined ? undefined : readTextFileIfExists(path);
  };
  const [ca, cert, key] = ["ssl_ca", "ssl_cert", "ssl_key"].map(file);
  const connection = await library.createConnection({
    host: options.text("host") ?? "salt",
    port: options.integer("port") ?? 3306,
    user: options.text("user") ?? "salt",
    password: options.text("pass") ?? "salt",
    database: options.text("db") ?? "salt",
    charset: "utf8mb4",
    connectTimeout: CONNECT_MS,
    ...(ca ?? cert) !== undefined && { ssl: { ca, cert, key } },
    // The library would make values of columns: they are read as the texts that they are.
    typeCast: (field) => field.string("utf8"),
    disableEval: true,
  });
  return {
    async query(statement, parameters = []) {
      // Values go apart from the statement: a server may have other rules for texts in it than the library.
      try {
        const [rows] = await connection.execute(statement, [...parameters]);
        return Array.isArray(rows) ? rows.map((row: object) => textRow(row)) : [];
      } catch (error) {
        if (error instanceof Error && "errno" in error && CONTENT_ERRORS.includes(Number(error.errno))) {
          throw new UnstorableError(error.message, { cause: error });
        }
        throw error;
      }
    },
    close: () => connection.end(),
  };
}
