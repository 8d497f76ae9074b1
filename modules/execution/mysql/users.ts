/**
 * Execution module `mysql`: users. The statements for them are in `user_statements.ts`.
 * Source: the functions of Salt 3008.3 `salt/modules/mysql.py`.
 * @module
 */

import type { MysqlClient } from "#lib/host/mysql/client.ts";
import { keepMysqlError, takeMysqlError } from "#lib/host/mysql/last_error.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { isTrue } from "#lib/values/is_true.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";
import { CONNECTED, rowsFunction, withMysql } from "./connection.ts";
import { isUser, kindOfServer, nameOnly, shownGrants, userPlugin } from "./known_users.ts";
import { pluginStatus } from "./lookups.ts";
import {
  changeStatement,
  createStatement,
  isMariadb,
  NATIVE,
  type ServerKind,
  type UserLogin,
  type UserName,
} from "./user_statements.ts";

export const user_list: ModuleFunction<JobContext> = rowsFunction(
  describe("Return the users, a list of maps with User and Host.", "mysql.user_list"),
  "SELECT User,Host FROM mysql.user",
);

/** The parameters of a user's login. */
const LOGIN = {
  user: p.str(),
  host: p.str("localhost"),
  password: p.str(null),
  password_hash: p.str(null),
};

/**
 * Uses a connection; if there is none, one with the password that is asked about: it may be the own one, and changed.
 */
async function withOwnPassword(
  kwargs: ValueMap,
  password: string | null,
  context: JobContext,
  use: (client: MysqlClient) => Promise<boolean>,
): Promise<boolean> {
  const failures = { connection: undefined, statement: false };
  const done = await withMysql(kwargs, context, failures, use);
  if (done !== undefined || !password) return done ?? false;
  takeMysqlError(context);
  return await withMysql(new Map([...kwargs, ["connection_pass", password]]), context, failures, use) ?? false;
}

export const user_exists: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether there is a user, with a password, with the hash of one, or passwordless=True with none.",
    "mysql.user_exists 'username' 'hostname' 'password'",
    "mysql.user_exists 'username' 'hostname' password_hash='hash'",
    "mysql.user_exists 'username' passwordless=True",
    "mysql.user_exists 'username' password_column='authentication_string'",
  ),
  ...CONNECTED,
  params: { ...LOGIN, passwordless: p.any(false), unix_socket: p.any(false), password_column: p.str(null) },
  run({ user, host, password, password_hash, passwordless, unix_socket, password_column }, context, { kwargs }) {
    const login: UserLogin = {
      ...nameOnly(user, host),
      password,
      passwordHash: password_hash,
      isPasswordless: isTrue(passwordless),
      bySocket: isTrue(unix_socket),
      column: password_column,
    };
    return withOwnPassword(kwargs, password, context, (client) => isUser(client, login, context));
  },
});

export const user_info: ModuleFunction<JobContext> = fn({
  doc: describe("Return all columns of a user; None: there is none.", "mysql.user_info root localhost"),
  ...CONNECTED,
  params: { user: p.str(), host: p.str("localhost") },
  run: ({ user, host }, context, { kwargs }) =>
    withMysql<Value>(kwargs, context, { connection: false }, async (client) => {
      const rows = await client.maps((quote) =>
        `SELECT * FROM mysql.user WHERE User = ${quote(user)} AND Host = ${quote(host)}`
      );
      return rows.at(0) ?? null;
    }),
});

/** Whether a login by socket is possible; if not, the reason is kept. */
async function hasSocketPlugin(
  client: MysqlClient,
  { host }: UserName,
  kind: ServerKind,
  context: JobContext,
): Promise<boolean> {
  const plugin = isMariadb(kind) ? "unix_socket" : "auth_socket";
  const reason = await pluginStatus(client, plugin) === ""
    ? `The ${plugin} plugin is not enabled.`
    : host === "localhost"
    ? undefined
    : "Auth via unix_socket can be set only for host=localhost";
  if (reason !== undefined) keepMysqlError(context, reason);
  return reason === undefined;
}

const NO_PASSWORD = "password or password_hash must be specified, unless allow_passwordless=True";

export const user_create: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make a user with a password, or the hash of one; allow_passwordless=True: with none; unix_socket=True: who logs in as a user of the " +
      "host. Return whether it was made.",
    "mysql.user_create 'username' 'hostname' 'password'",
    "mysql.user_create 'username' 'hostname' password_hash='hash'",
    "mysql.user_create 'username' 'hostname' allow_passwordless=True",
  ),
  ...CONNECTED,
  params: {
    ...LOGIN,
    allow_passwordless: p.any(false),
    unix_socket: p.any(false),
    password_column: p.str(null),
    auth_plugin: p.str(NATIVE),
  },
  run(given, context, { kwargs }) {
    const { user, host, password, password_hash, allow_passwordless, unix_socket, password_column, auth_plugin } =
      given;
    const login: UserLogin = {
      ...nameOnly(user, host),
      password,
      passwordHash: password_hash,
      isPasswordless: isTrue(allow_passwordless),
      bySocket: isTrue(unix_socket),
      column: password_column,
      plugin: auth_plugin,
    };
    return withOwnPassword(kwargs, password, context, async (client) => {
      if (await isUser(client, nameOnly(user, host), context)) return false;
      const kind = await kindOfServer(client, password_column);
      if (login.bySocket && !await hasSocketPlugin(client, login, kind, context)) return false;
      if (!login.bySocket && !login.isPasswordless && password === null && password_hash === null) {
        context.log("error", NO_PASSWORD);
        return false;
      }
      await client.run((quote) => createStatement(login, kind, quote));
      return await isUser(client, { ...login, isPasswordless: false, bySocket: false }, context);
    });
  },
});

export const user_chpass: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Change a user's password. Return whether it was changed.",
    "mysql.user_chpass frank localhost newpassword",
    "mysql.user_chpass frank localhost password_hash='hash'",
    "mysql.user_chpass frank localhost allow_passwordless=True",
  ),
  ...CONNECTED,
  params: { ...LOGIN, allow_passwordless: p.any(false), unix_socket: p.any(null), password_column: p.str(null) },
  run(given, context, { kwargs }) {
    const { user, host, password, password_hash, allow_passwordless, unix_socket, password_column } = given;
    const isPasswordless = isTrue(allow_passwordless);
    return withOwnPassword(kwargs, password, context, async (client) => {
      if (!await isUser(client, nameOnly(user, host), context)) return false;
      if (password === null && password_hash === null && !isPasswordless) {
        context.log("error", NO_PASSWORD);
        return false;
      }
      const kind = await kindOfServer(client, password_column);
      const bySocket = isPasswordless && isTrue(unix_socket);
      if (bySocket && !await hasSocketPlugin(client, { user, host }, kind, context)) return false;
      const login: UserLogin = {
        ...nameOnly(user, host),
        password,
        passwordHash: password_hash,
        isPasswordless,
        bySocket,
        column: password_column,
        plugin: await userPlugin(client, { user, host }),
      };
      const { affected } = await client.run((quote) => changeStatement(login, kind, quote));
      if (!kind.hasAlterUser && affected === 0) return false;
      await client.run(() => "FLUSH PRIVILEGES");
      return true;
    });
  },
});

export const user_remove: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a user. Return whether it was removed.", "mysql.user_remove frank localhost"),
  ...CONNECTED,
  params: { user: p.str(), host: p.str("localhost") },
  run: ({ user, host }, context, { kwargs }) =>
    withMysql(kwargs, context, { connection: false }, async (client) => {
      if (!await isUser(client, nameOnly(user, host), context)) {
        keepMysqlError(context, `User '${user}'@'${host}' does not exists`);
        return false;
      }
      await client.run((quote) => `DROP USER ${quote(user)}@${quote(host)}`);
      return !await isUser(client, nameOnly(user, host), context);
    }),
});

export const user_grants: ModuleFunction<JobContext> = fn({
  doc: describe("Return the grants of a user; False: there is no such user.", "mysql.user_grants 'frank' 'localhost'"),
  ...CONNECTED,
  params: { user: p.str(), host: p.str("localhost") },
  run: (user, context, { kwargs }) =>
    withMysql<Value>(kwargs, context, { connection: false }, (client) => shownGrants(client, user, context)),
});
