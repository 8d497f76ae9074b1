/**
 * What the functions of `mysql` ask a server about its users.
 * Source: Salt 3008.3 `salt/modules/mysql.py` (`user_exists`, `user_grants`, `__get_auth_plugin`, `__password_column`).
 * @module
 */

import type { MysqlClient } from "#lib/host/mysql/client.ts";
import { keepMysqlError } from "#lib/host/mysql/last_error.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { str } from "#lib/values/value.ts";
import { serverVersion } from "./connection.ts";
import {
  existsStatement,
  NATIVE,
  type ServerKind,
  serverKind,
  type UserLogin,
  type UserName,
} from "./user_statements.ts";

/** The one that the caller names, or the one that `mysql.user` has. */
async function passwordColumn(client: MysqlClient, given: string | null): Promise<string> {
  if (given) return given;
  const { rows } = await client.run(() =>
    "SELECT column_name FROM information_schema.COLUMNS WHERE table_schema='mysql' AND table_name='user' AND column_name='Password'"
  );
  return rows.length > 0 ? "Password" : "authentication_string";
}

/** The plugin by which a user logs in. */
export async function userPlugin(client: MysqlClient, { user, host }: UserName): Promise<string> {
  const { rows: [row] } = await client.run((quote) =>
    `SELECT plugin FROM mysql.user WHERE User=${quote(user)} AND Host=${quote(host)}`
  );
  return row === undefined ? NATIVE : str(row[0]) || NATIVE;
}

/** Whether there is a user with a login. */
export async function isUser(client: MysqlClient, login: UserLogin, context: JobContext): Promise<boolean> {
  const kind = await kindOfServer(client, login.column);
  const plugin = await userPlugin(client, login);
  const { rows } = await client.run((quote) => {
    const { sql, error } = existsStatement({ ...login, plugin }, kind, quote);
    if (error !== undefined) keepMysqlError(context, error);
    return sql;
  });
  return rows.length === 1;
}

/**
 * What statements for users depend on.
 * @param column The column of passwords, if the caller names it.
 */
export async function kindOfServer(client: MysqlClient, column: string | null): Promise<ServerKind> {
  return serverKind(await serverVersion(client), await passwordColumn(client, column));
}

/** A user without more. */
export function nameOnly(user: string, host: string): UserLogin {
  return { user, host, password: null, passwordHash: null, isPasswordless: false, bySocket: false, column: null };
}

/** The grants of a user as the server shows them; False: there is no such user. */
export async function shownGrants(
  client: MysqlClient,
  { user, host }: UserName,
  context: JobContext,
): Promise<string[] | false> {
  if (!await isUser(client, nameOnly(user, host), context)) return false;
  const { rows } = await client.run((quote) => `SHOW GRANTS FOR ${quote(user)}@${quote(host)}`);
  return rows.map(([shown]) => {
    const grant = str(shown), [text] = grant.split(" IDENTIFIED BY");
    const isLost = grant.includes("WITH GRANT OPTION") && !text.includes("WITH GRANT OPTION");
    return isLost ? `${text} WITH GRANT OPTION` : text;
  });
}
