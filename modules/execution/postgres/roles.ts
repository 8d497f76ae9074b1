/**
 * The functions of the module `postgres` for roles: users, and groups, which cannot log in.
 * Source: the functions of Salt 3008.3 `salt/modules/postgres.py`.
 * @module
 */

import { CONNECTION, executeSecret, executeSql, type PsqlConnection, rowsOf } from "./psql.ts";
import {
  isRole,
  parseRole,
  roleClause,
  type RoleKind,
  type RoleOptions,
  rolesQuery,
} from "#lib/host/postgres/postgres_roles.ts";
import { identifier } from "#lib/host/postgres/psql.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p, type Parameters } from "#lib/plugins/module.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";

const { runas, ...PLACE } = CONNECTION;

/** All roles by name; `undefined` if the server does not say its version. */
async function roles(
  connection: PsqlConnection,
  context: JobContext,
  withPasswords = false,
): Promise<ValueMap | undefined> {
  const version = await context.call("postgres.version", [], map({ ...connection }));
  if (typeof version !== "string") {
    context.log("error", "Could not retrieve Postgres version. Is Postgresql server running?");
    return undefined;
  }
  const rows = await rowsOf(rolesQuery(version, withPasswords), connection, context);
  return new Map(rows.map((row): [Value, Value] => [row.name, map(parseRole(row))]));
}

async function roleOf(name: string, connection: PsqlConnection, context: JobContext, withPassword = false) {
  return (await roles(connection, context, withPassword))?.get(name) ?? null;
}

export const user_list: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the roles by name, with what each may do and its groups; return_password=True: their passwords as the server keeps\n" +
      "them. False if the server does not answer.",
    "postgres.user_list",
  ),
  permissions: "all",
  params: { ...CONNECTION, return_password: p.bool(false) },
  run: async ({ return_password, ...connection }, context) =>
    await roles(connection, context, return_password) ?? false,
});

export const role_get: ModuleFunction<JobContext> = fn({
  doc: describe("Return information about a role, or None.", "postgres.role_get postgres"),
  permissions: "all",
  params: { name: p.str(), ...CONNECTION, return_password: p.bool(false) },
  run: ({ name, return_password, ...connection }, context) => roleOf(name, connection, context, return_password),
});

export const user_exists: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether there is a role.", "postgres.user_exists 'username'"),
  permissions: "all",
  params: { name: p.str(), ...CONNECTION },
  run: async ({ name, ...connection }, context) => isRole(await roleOf(name, connection, context)),
});

/**
 * Makes a role, or changes one that is there.
 * @returns Whether that was done.
 */
async function changeRole(
  what: "create" | "update",
  name: string,
  { kind, options, connection }: {
    readonly kind: RoleKind;
    readonly options: RoleOptions;
    readonly connection: PsqlConnection;
  },
  context: JobContext,
): Promise<boolean> {
  const known = await roleOf(name, connection, context);
  if (isRole(known) === (what === "create")) {
    context.log("info", `${kind} '${name}' ${what === "create" ? "already exists" : "could not be found"}`);
    return false;
  }
  const clause = isRole(known)
    ? roleClause(name, options, { kind: "role", known })
    : roleClause(name, options, { kind });
  const verb = what === "create" ? "CREATE" : "ALTER";
  return await executeSecret(`${verb} ROLE ${identifier(name)} WITH ${clause}`, connection, context);
}

const FLAG = p.any(null);

/** A function that makes or changes roles of a kind, with its parameters in Salt's order. */
function changing<P extends Parameters>(
  kind: "user" | "group",
  what: "create" | "update",
  doc: string,
  params: P,
): ModuleFunction<JobContext> {
  return fn<P>({
    doc: describe(
      `${doc} Return whether it succeeded. createdb, createroles, superuser, login, inherit, replication: what it may do. rolepassword:\n` +
        "its password, which is kept as encrypted says: md5 (the default), scram-sha-256, or False for as it is. groups: a list.",
      `postgres.${kind}_${what} 'name' ${
        kind === "user" ? "user='user' host='hostname'" : "createdb=True"
      } rolepassword='rolepassword'`,
    ),
    permissions: "all",
    params,
    run(bound, context) {
      const given = new Map(Object.entries(bound)) as ReadonlyMap<string, Value>;
      const flag = (key: string): Value => given.get(key) ?? null;
      const word = (key: string): string | null => flag(key) === null ? null : str(flag(key));
      const options: RoleOptions = {
        createdb: flag("createdb"),
        createroles: flag("createroles"),
        encrypted: flag("encrypted"),
        superuser: flag("superuser"),
        inherit: flag("inherit"),
        login: flag("login"),
        connlimit: flag("connlimit"),
        replication: flag("replication"),
        rolepassword: flag("rolepassword"),
        valid_until: flag("valid_until"),
        groups: flag("groups"),
      };
      const connection: PsqlConnection = {
        user: word("user"),
        host: word("host"),
        port: word("port"),
        maintenance_db: word("maintenance_db"),
        password: word("password"),
        runas: word("runas"),
      };
      return changeRole(what, word(`${kind}name`) ?? "", { kind, options, connection }, context);
    },
  });
}

const LAST = { replication: FLAG, rolepassword: FLAG };

export const user_create: ModuleFunction<JobContext> = changing("user", "create", "Make a user.", {
  username: p.str(),
  ...PLACE,
  createdb: FLAG,
  createroles: FLAG,
  inherit: FLAG,
  login: FLAG,
  connlimit: FLAG,
  encrypted: FLAG,
  superuser: FLAG,
  ...LAST,
  valid_until: FLAG,
  groups: FLAG,
  runas,
});

export const user_update: ModuleFunction<JobContext> = changing("user", "update", "Change a user.", {
  username: p.str(),
  ...PLACE,
  createdb: FLAG,
  createroles: FLAG,
  encrypted: FLAG,
  superuser: FLAG,
  inherit: FLAG,
  login: FLAG,
  connlimit: FLAG,
  ...LAST,
  valid_until: FLAG,
  groups: FLAG,
  runas,
});

export const group_create: ModuleFunction<JobContext> = changing("group", "create", "Make a group.", {
  groupname: p.str(),
  ...PLACE,
  createdb: FLAG,
  createroles: FLAG,
  encrypted: FLAG,
  login: FLAG,
  inherit: FLAG,
  superuser: FLAG,
  ...LAST,
  groups: FLAG,
  runas,
});

export const group_update: ModuleFunction<JobContext> = changing("group", "update", "Change a group.", {
  groupname: p.str(),
  ...PLACE,
  createdb: FLAG,
  createroles: FLAG,
  encrypted: FLAG,
  inherit: FLAG,
  login: FLAG,
  superuser: FLAG,
  ...LAST,
  groups: FLAG,
  runas,
});

/**
 * Removes a role.
 * @returns Whether it is gone; false if it was not there.
 */
async function removeRole(name: string, connection: PsqlConnection, context: JobContext): Promise<boolean> {
  if (!isRole(await roleOf(name, connection, context))) {
    context.log("info", `User '${name}' does not exist`);
    return false;
  }
  await executeSql(`DROP ROLE ${identifier(name)}`, connection, context);
  return !isRole(await roleOf(name, connection, context));
}

export const user_remove: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove a user. Return whether it is gone; False if it was not there.",
    "postgres.user_remove 'username'",
  ),
  permissions: "all",
  params: { username: p.str(), ...CONNECTION },
  run: ({ username, ...connection }, context) => removeRole(username, connection, context),
});

export const group_remove: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove a group. Return whether it is gone; False if it was not there.",
    "postgres.group_remove 'groupname'",
  ),
  permissions: "all",
  params: { groupname: p.str(), ...CONNECTION },
  run: ({ groupname, ...connection }, context) => removeRole(groupname, connection, context),
});
