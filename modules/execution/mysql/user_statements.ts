/**
 * The statements for users, which differ between MySQL, MariaDB and their versions.
 * Source: Salt 3008.3 `salt/modules/mysql.py` (`_mysql_user_create`, `_mariadb_user_chpass` and so on).
 * @module
 */

import { hashBytes } from "#lib/crypto/hash.ts";
import { quoteName, type QuoteValue } from "#lib/host/mysql/quoting.ts";
import { compareLooseVersions } from "#lib/text/loose_version.ts";

/** The plugin of a login by a password, unless another one is named. */
export const NATIVE = "mysql_native_password";

/** A user as the server knows it. */
export interface UserName {
  readonly user: string;
  readonly host: string;
}

/** A user with the way to log in. */
export interface UserLogin extends UserName {
  readonly password: string | null;
  readonly passwordHash: string | null;
  /** Whether no password is wanted. */
  readonly isPasswordless: boolean;
  /** Whether the user of the host is asked for, in place of a password. */
  readonly bySocket: boolean;
  /** The column of passwords, if the caller names it. */
  readonly column: string | null;
  readonly plugin?: string;
}

/** What statements depend on. */
export interface ServerKind {
  readonly family: "MariaDB" | "MySQL";
  /** Whether a user is changed by `ALTER USER`: its table cannot be written. */
  readonly hasAlterUser: boolean;
  /** The column of passwords, as a name of SQL. */
  readonly column: string;
}

/** The kind of a server with this version. */
export function serverKind(version: string, column: string): ServerKind {
  const family = version.includes("MariaDB") ? "MariaDB" : "MySQL";
  const since = family === "MariaDB" ? "10.4" : "8.0.11";
  return { family, hasAlterUser: compareLooseVersions(version, since) >= 0, column: quoteName(column) };
}

/** Whether it is MariaDB. */
export function isMariadb({ family }: ServerKind): boolean {
  return family === "MariaDB";
}

function socketPlugin(kind: ServerKind): string {
  return isMariadb(kind) ? "unix_socket" : "auth_socket";
}

/** The hash of a password by the native plugin. */
function nativeHash(password: string): string {
  return `*${hashBytes(hashBytes(password, "sha1"), "sha1").toHex().toUpperCase()}`;
}

/** The statement that finds a user with a login; `error`: the login cannot be checked. */
export function existsStatement(
  login: UserLogin,
  kind: ServerKind,
  quote: QuoteValue,
): { readonly sql: string; readonly error?: string } {
  const { user, host, password, passwordHash, isPasswordless, bySocket, plugin } = login;
  const sql = `SELECT User,Host FROM mysql.user WHERE User = ${quote(user)} AND Host = ${quote(host)}`;
  if (isPasswordless) {
    return { sql: `${sql} AND ${bySocket ? `plugin = ${quote(socketPlugin(kind))}` : `${kind.column} = ''`}` };
  }
  if (password) {
    if (isMariadb(kind) || !kind.hasAlterUser) {
      return { sql: `${sql} AND ${kind.column} = PASSWORD(${quote(password)})` };
    }
    if (plugin !== NATIVE) return { sql, error: "Unable to verify password." };
    return { sql: `${sql} AND ${kind.column} = ${quote(nativeHash(password))}` };
  }
  return { sql: passwordHash ? `${sql} AND ${kind.column} = ${quote(passwordHash)}` : sql };
}

/** The statement that makes a user. */
export function createStatement(login: UserLogin, kind: ServerKind, quote: QuoteValue): string {
  const { user, host, password, passwordHash, isPasswordless, bySocket, plugin = NATIVE } = login;
  const sql = `CREATE USER ${quote(user)}@${quote(host)}`;
  if (bySocket) return `${sql} IDENTIFIED ${isMariadb(kind) ? "VIA" : "WITH"} ${socketPlugin(kind)}`;
  if (isPasswordless) return sql;
  const withPlugin = !isMariadb(kind) && kind.hasAlterUser ? ` WITH ${quote(plugin)}` : undefined;
  if (password !== null) return `${sql} IDENTIFIED${withPlugin ?? ""} BY ${quote(password)}`;
  return `${sql} IDENTIFIED${withPlugin === undefined ? " BY PASSWORD" : `${withPlugin} AS`} ${
    quote(passwordHash ?? "")
  }`;
}

/** The statement that changes a user's login. */
export function changeStatement(login: UserLogin, kind: ServerKind, quote: QuoteValue): string {
  const { user, host, password, passwordHash, bySocket, plugin = NATIVE } = login;
  const name = `${quote(user)}@${quote(host)}`;
  const hashed = password === null ? quote(passwordHash ?? "") : `PASSWORD(${quote(password)})`;
  if (!kind.hasAlterUser) {
    const more = bySocket ? `, plugin=${quote(socketPlugin(kind))}` : "";
    return `UPDATE mysql.user SET ${kind.column}=${hashed}${more} WHERE User=${quote(user)} AND Host=${quote(host)}`;
  }
  if (isMariadb(kind)) {
    return `ALTER USER ${name} IDENTIFIED VIA ${bySocket ? "unix_socket" : `${quote(plugin)} USING ${hashed}`}`;
  }
  const how = bySocket ? `${quote("auth_socket")} AS ${quote(user)}` : quote(plugin);
  if (bySocket || (password === null && passwordHash === null)) return `ALTER USER ${name} IDENTIFIED WITH ${how}`;
  const secret = password === null ? `AS ${quote(passwordHash ?? "")}` : `BY ${quote(password)}`;
  return `ALTER USER ${name} IDENTIFIED WITH ${how} ${secret}`;
}
