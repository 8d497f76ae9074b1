/**
 * Privileges of MySQL and MariaDB: their names, a request for some of them, and what of it becomes SQL.
 * Source: Salt 3008.3 `salt/modules/mysql.py` (`__grants__`, `__all_privileges__`, `__grant_normalize`,
 * `_resolve_grant_aliases`).
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { compareLooseVersions } from "#lib/text/loose_version.ts";
import { quoteName } from "./quoting.ts";

/** What MySQL 8 grants with all privileges if it does not say so itself. */
export const ALL_PRIVILEGES: readonly string[] = (
  "ALTER,ALTER ROUTINE,BACKUP_ADMIN,BINLOG_ADMIN,CONNECTION_ADMIN,CREATE,CREATE ROLE,CREATE ROUTINE,CREATE TABLESPACE," +
  "CREATE TEMPORARY TABLES,CREATE USER,CREATE VIEW,DELETE,DROP,DROP ROLE,ENCRYPTION_KEY_ADMIN,EVENT,EXECUTE,FILE," +
  "GROUP_REPLICATION_ADMIN,INDEX,INSERT,LOCK TABLES,PERSIST_RO_VARIABLES_ADMIN,PROCESS,REFERENCES,RELOAD,REPLICATION CLIENT," +
  "REPLICATION SLAVE,REPLICATION_SLAVE_ADMIN,RESOURCE_GROUP_ADMIN,RESOURCE_GROUP_USER,ROLE_ADMIN,SELECT,SET_USER_ID," +
  "SHOW DATABASES,SHOW VIEW,SHUTDOWN,SUPER,SYSTEM_VARIABLES_ADMIN,TRIGGER,UPDATE,XA_RECOVER_ADMIN"
).split(",");

/** The names that may be granted; the last ones are MariaDB's, and those that are no privilege of their own. */
const NAMES: ReadonlySet<string> = new Set([
  ...ALL_PRIVILEGES,
  ...("ALL PRIVILEGES,BINLOG ADMIN,BINLOG MONITOR,BINLOG REPLAY,CONNECTION ADMIN,DELETE HISTORY,FEDERATED ADMIN,GRANT OPTION," +
    "READ_ONLY ADMIN,REPLICA MONITOR,REPLICATION MASTER ADMIN,REPLICATION REPLICA,REPLICATION SLAVE ADMIN,SERVICE_CONNECTION_ADMIN," +
    "SET USER,SLAVE MONITOR,USAGE").split(","),
]);

/** A privilege, on some columns or on all. */
export interface Privilege {
  readonly name: string;
  readonly columns: readonly string[];
}

/**
 * Reads a request: `select, insert (a, b)`.
 * @throws {CommandError} If a name is no privilege, with Salt's text.
 */
export function parsePrivileges(text: string): Privilege[] {
  const wanted = text.trim().toUpperCase();
  if (wanted === "ALL") return [{ name: "ALL PRIVILEGES", columns: [] }];
  return wanted.split(/,(?![^(]*\))/).map((one) => {
    const [, name, columns] = /^([^(]*)(?:\(([^()]*)\))?\s*$/.exec(one) ?? [];
    const known = name?.trim().replace(/\s+/g, " ");
    if (known === undefined || !NAMES.has(known)) throw new CommandError(`Invalid grant : '${one.trim()}'`);
    return { name: known, columns: columns?.split(",").map((column) => column.trim().replaceAll("`", "")) ?? [] };
  });
}

/** Privileges as a part of a statement. */
export function privilegesSql(privileges: readonly Privilege[]): string {
  return privileges.map(({ name, columns }) =>
    columns.length === 0 ? name : `${name} (${columns.map((column) => quoteName(column)).join(", ")})`
  ).join(", ");
}

/** Privileges as the tokens that a server's grant is compared with. */
export function privilegeTokens(privileges: readonly Privilege[]): string[] {
  return privileges.flatMap(({ name, columns }) => [name, ...columns.map((column) => `${name}.${column}`)]);
}

/** The other names of MariaDB's privileges, with the version since which it shows the second one. */
const ALIASES: readonly (readonly [name: string, shown: string, since: string])[] = [
  ["REPLICATION REPLICA", "REPLICATION SLAVE", "10.5.1"],
  ["REPLICATION CLIENT", "BINLOG MONITOR", "10.5.2"],
  ["REPLICA MONITOR", "SLAVE MONITOR", "10.5.9"],
];

/** Tokens with the names that the server shows. */
export function shownTokens(tokens: readonly string[], version: string): string[] {
  if (!version.includes("MariaDB")) return [...tokens];
  return tokens.map((token) => {
    const alias = ALIASES.find(([name, , since]) => name === token && compareLooseVersions(version, since) >= 0);
    return alias?.[1] ?? token;
  });
}

/** What a user's connections must have: the names of `REQUIRE` with a value, and those without. */
const SSL_VALUES = ["CIPHER", "ISSUER", "SUBJECT"];
const SSL_WORDS = ["SSL", "X509"];

/**
 * The clause for TLS; empty if nothing is required.
 * @param options Pairs of the option and its value.
 * @param quote The function for literals.
 * @throws {CommandError} If an option is unknown, with Salt's text.
 */
export function requireSql(
  options: readonly (readonly [name: string, value: string, isTrue: boolean])[],
  quote: (value: string) => string,
): string {
  const parts = options.flatMap(([name, value, isTrue]) => {
    const option = name.trim().toUpperCase();
    if (SSL_VALUES.includes(option)) return [`${option} ${quote(value.replaceAll("'", ""))}`];
    if (!SSL_WORDS.includes(option)) throw new CommandError(`Invalid SSL option : '${name}'`);
    return isTrue ? [option] : [];
  });
  return parts.length === 0 ? "" : ` REQUIRE ${parts.join(" AND ")}`;
}
