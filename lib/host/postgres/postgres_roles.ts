/**
 * Roles of PostgreSQL: the clauses of commands that make and change them, and the query for a list of them. Source:
 * Salt 3008.3, `salt/modules/postgres.py`; CREATE ROLE.
 * @module
 */

import { stripChars } from "#lib/values/python_text.ts";
import { encryptedPassword, passwordMethod } from "./postgres_passwords.ts";
import { identifier, literal, type Row } from "./psql.ts";
import { compareLooseVersions } from "#lib/text/loose_version.ts";
import { readCsv } from "#lib/text/csv.ts";
import { isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The wanted options of a role; `null`: unchanged. */
export interface RoleOptions {
  readonly createdb: Value;
  readonly createroles: Value;
  readonly encrypted: Value;
  readonly superuser: Value;
  readonly inherit: Value;
  readonly login: Value;
  readonly connlimit?: Value;
  readonly replication: Value;
  readonly rolepassword: Value;
  readonly valid_until?: Value;
  readonly groups: Value;
}

/** The word for a role in texts; a group cannot log in, a user can. */
export type RoleKind = "user" | "group" | "role";

/** The groups of a list, or of a text with commas. */
function groupNames(groups: Value): string[] {
  if (Array.isArray(groups)) return groups.map(str);
  return truthy(groups) ? str(groups).split(",") : [];
}

/**
 * The options of a role after `CREATE ROLE "name" WITH`, then the commands that give it its groups.
 * @param known The current role, if it exists.
 */
export function roleClause(
  name: string,
  options: RoleOptions,
  { kind, known }: { kind: RoleKind; known?: ValueMap },
): string {
  const { connlimit = null, valid_until: until = null, rolepassword: password } = options;
  const inherit = options.inherit ?? (kind === "role" ? null : true);
  const login = options.login ?? (kind === "role" ? null : kind === "user");
  const isSame = known !== undefined && known.size > 0 && truthy(options.superuser) === truthy(known.get("superuser"));
  const flag = (word: string, value: Value) => value === null ? [] : [truthy(value) ? word : `NO${word}`];
  const parts = [
    ...flag("INHERIT", inherit),
    ...flag("CREATEDB", options.createdb),
    ...flag("CREATEROLE", options.createroles),
    ...isSame ? [] : flag("SUPERUSER", options.superuser),
    ...flag("REPLICATION", options.replication),
    ...flag("LOGIN", login),
    ...connlimit === null ? [] : [`CONNECTION LIMIT ${str(connlimit)}`],
    ...passwordPart(name, password, options.encrypted),
    ...until === null ? [] : [truthy(until) ? `VALID UNTIL ${literal(str(until))}` : "NOVALID UNTIL"],
  ];
  const grants = groupNames(options.groups).map((group) => `; GRANT ${identifier(group)} TO ${identifier(name)}`);
  return [...parts.map((part) => ` ${part}`), ...grants].join("");
}

/** The password's part: a text is set, True keeps it, False removes it. */
function passwordPart(name: string, password: Value, encrypted: Value): string[] {
  if (typeof password === "boolean") return [password ? "PASSWORD" : "NOPASSWORD"];
  if (password === null || password === "") return [];
  const method = passwordMethod(encrypted);
  const hash = encryptedPassword(name, str(password), method);
  return [method === false ? "UNENCRYPTED" : "ENCRYPTED", `PASSWORD ${literal(hash)}`];
}

/** The query of all roles, for a server of that version. */
export function rolesQuery(version: string, withPasswords: boolean): string {
  const since = (first: string) => compareLooseVersions(version, first) >= 0;
  const catalogs = since("9.5") ? "NULL" : "pg_roles.rolcatupdate";
  const replication = since("9.1") ? "pg_roles.rolreplication" : "NULL";
  const only = (text: string) => withPasswords ? text : "";
  return [
    'SELECT pg_roles.rolname as "name",pg_roles.rolsuper as "superuser",',
    ' pg_roles.rolinherit as "inherits privileges", pg_roles.rolcreaterole as',
    ` "can create roles", pg_roles.rolcreatedb as "can create databases", ${catalogs}`,
    ` as "can update system catalogs", pg_roles.rolcanlogin as "can login", ${replication}`,
    ' as "replication", pg_roles.rolconnlimit as "connections", (SELECT',
    " array_agg(pg_roles2.rolname)    FROM pg_catalog.pg_auth_members    JOIN",
    " pg_catalog.pg_roles pg_roles2 ON (pg_auth_members.roleid = pg_roles2.oid)",
    "    WHERE pg_auth_members.member = pg_roles.oid) as",
    ' "groups",pg_roles.rolvaliduntil::timestamp(0) as "expiry time",',
    ' pg_roles.rolconfig  as "defaults variables" ',
    only(', COALESCE(pg_shadow.passwd, pg_authid.rolpassword) as "password" '),
    "FROM pg_roles ",
    only("LEFT JOIN pg_authid ON pg_roles.oid = pg_authid.oid "),
    only("LEFT JOIN pg_shadow ON pg_roles.oid = pg_shadow.usesysid"),
  ].join("");
}

const FLAGS = [
  "superuser",
  "inherits privileges",
  "can create roles",
  "can create databases",
  "can update system catalogs",
  "can login",
  "replication",
  "connections",
];

/** One role of {@linkcode rolesQuery}. */
export function parseRole(row: Row): Record<string, Value> {
  const role: Record<string, Value> = {};
  for (const flag of FLAGS) role[flag] = row[flag] === "t" ? true : row[flag] === "f" ? false : null;
  role["expiry time"] = timeOf(row["expiry time"] ?? "");
  role["defaults variables"] = row["defaults variables"] ?? "";
  if (row.password !== undefined) role.password = row.password;
  role.groups = readCsv(stripChars(row.groups ?? "", "{}"))[0] ?? [];
  return role;
}

/** A time of PostgreSQL in the form of Salt's messages, `20260101T00:00:00.000000`; None for none. */
export function timeOf(text: string): string | null {
  const [, year, month, day, time] = /^(\d{4})-(\d\d)-(\d\d) (\d\d:\d\d:\d\d)$/.exec(text) ?? [];
  return time === undefined ? null : `${year}${month}${day}T${time}.000000`;
}

/** The fields of a role that differ from the wanted ones, in the form of the states of users and groups. */
export function roleChanges(
  known: ValueMap,
  wanted: Omit<RoleOptions, "encrypted" | "rolepassword"> & { readonly newPassword: boolean },
): ValueMap {
  const changes: ValueMap = new Map();
  const compare = (key: string, value: Value, column: string) => {
    if (value !== null && known.get(column) !== value) changes.set(key, value);
  };
  compare("createdb", wanted.createdb, "can create databases");
  compare("inherit", wanted.inherit, "inherits privileges");
  compare("login", wanted.login, "can login");
  compare("createroles", wanted.createroles, "can create roles");
  compare("replication", wanted.replication, "replication");
  compare("superuser", wanted.superuser, "superuser");
  if (wanted.newPassword) changes.set("password", true);
  if (wanted.valid_until !== undefined && wanted.valid_until !== null) changes.set("valid_until", wanted.valid_until);
  const there = known.get("groups") ?? [];
  const missing = groupNames(wanted.groups).filter((group) => !(Array.isArray(there) && there.includes(group)));
  if (missing.length > 0) changes.set("groups", missing);
  return changes;
}

/** Whether a value is a role that `postgres.role_get` found. */
export function isRole(value: Value): value is ValueMap {
  return isMap(value) && value.size > 0;
}
