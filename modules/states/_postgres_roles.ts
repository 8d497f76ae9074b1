/**
 * Users and groups of PostgreSQL, which are roles: one state for both.
 * Source: Salt 3008.3, `salt/states/postgres_user.py`, `salt/states/postgres_group.py`.
 * @module
 */

import { dbArgs, removeObject, succeeds } from "./_postgres.ts";
import { encryptedPassword, isPassword, passwordMethod } from "#lib/host/postgres/postgres_passwords.ts";
import { literal } from "#lib/host/postgres/psql.ts";
import { isRole, roleChanges, timeOf } from "#lib/host/postgres/postgres_roles.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { failState, startResult, type StateResult } from "#lib/plugins/state_module.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The requested properties of a user or a group. */
export interface WantedRole {
  readonly name: string;
  readonly createdb: Value;
  readonly createroles: Value;
  readonly encrypted: Value;
  readonly superuser: Value;
  readonly replication: Value;
  readonly inherit: Value;
  readonly login: Value;
  readonly password: Value;
  /** Of a new user. */
  readonly default_password?: Value;
  /** Whether the password is set without a check of the current one. */
  readonly refresh_password: Value;
  readonly valid_until?: string | null;
  readonly groups: Value;
}

/** Where and as whom psql connects. */
export type RoleConnection = Parameters<typeof dbArgs>[0];

/** The password to set, as the server stores it; None: unchanged. */
function newPassword(wanted: WantedRole, known: Value): Value {
  const { name, encrypted, refresh_password } = wanted;
  const isThere = isRole(known);
  const given = wanted.password ?? (isThere ? null : wanted.default_password ?? null);
  if (given === null) return null;
  const method = passwordMethod(encrypted);
  const stored = isThere && !truthy(refresh_password) ? str(known.get("password") ?? "") : undefined;
  if (stored !== undefined && isPassword(name, str(given), stored, method)) return null;
  return encryptedPassword(name, str(given), method);
}

/** The requested expiry of a user, if it differs. */
async function newEnd(wanted: WantedRole, known: ValueMap, args: ValueMap, context: StateContext): Promise<Value> {
  if (!wanted.valid_until) return wanted.valid_until ?? null;
  const query = `SELECT ${literal(wanted.valid_until)}::timestamp(0) as dt;`;
  const rows = await context.call("postgres.psql_query", [query], args);
  const [row] = listOrEmpty(rows);
  const time = isMap(row) ? timeOf(str(row.get("dt") ?? "")) : null;
  return time === (known.get("expiry time") ?? null) ? null : wanted.valid_until;
}

/** Creates or changes a user or a group. */
export async function rolePresent(
  kind: "user" | "group",
  wanted: WantedRole,
  connection: RoleConnection,
  context: StateContext,
): Promise<StateResult> {
  const { name } = wanted;
  const title = kind === "user" ? "User" : "Group";
  const args = dbArgs(connection);
  const role = await context.call(
    "postgres.role_get",
    [name],
    new Map([...args, ["return_password", !truthy(wanted.refresh_password)]]),
  );
  const password = newPassword(wanted, role);
  const changes = isRole(role)
    ? roleChanges(role, {
      ...wanted,
      newPassword: password !== null,
      valid_until: await newEnd(wanted, role, args, context),
    })
    : new Map();
  if (isRole(role) && changes.size === 0) {
    return { ...startResult(name), comment: `${title} ${name} is already present` };
  }
  const mode = isRole(role) ? "update" : "create";
  const reported: ValueMap = changes.size > 0 ? new Map([[name, changes]]) : new Map();
  if (context.test) return { name, result: null, comment: `${title} ${name} is set to be ${mode}d`, changes: reported };
  const { createdb, createroles, encrypted, superuser, login, inherit, replication, groups, valid_until = null } =
    wanted;
  const options = map({
    [`${kind}name`]: name,
    ...{ createdb, createroles, superuser, login, inherit, replication, rolepassword: password, groups },
    encrypted: passwordMethod(encrypted),
    ...kind === "user" && { valid_until },
  });
  if (!await succeeds(context, `${kind}_${mode}`, [], new Map([...options, ...args]))) {
    return failState(name, `Failed to ${mode} ${kind} ${name}`);
  }
  const now = changes.size > 0 ? reported : map({ [name]: "Present" });
  return { ...startResult(name), comment: `The ${kind} ${name} has been ${mode}d`, changes: now };
}

/** Removes a user or a group. */
export function roleAbsent(
  kind: "user" | "group",
  name: string,
  connection: RoleConnection,
  context: StateContext,
): Promise<StateResult> {
  const args = dbArgs(connection);
  return removeObject({
    name,
    what: `${kind === "user" ? "User" : "Group"} ${name}`,
    exists: () => succeeds(context, "user_exists", [name], args),
    remove: () => succeeds(context, `${kind}_remove`, [name], args),
  }, context);
}

/** The part of the documentation that users and groups share. */
export const ROLE_DOC =
  "\n\ncreatedb, createroles, superuser, replication, inherit, login\n    What it may do; what is not said stays as it is.\n\npassword\n    Its " +
  "password, plain or as the server keeps it.\n\nencrypted\n    How it is kept: md5, scram-sha-256, or False.\n\nrefresh_password\n    Whether it " +
  "is set without a look at the one that there is, for which one must be a superuser.\n\ngroups\n    A list, or a text with commas.";
