/**
 * State module `mongodb_user`: users of MongoDB and their roles.
 * Source: Salt 3006.28 `salt/states/mongodb_user.py`, which Salt 3008 has no longer.
 * @module
 */

import { AUTHDB, MONGO_LOGIN, MONGO_LOGIN_DOC, type MongoLogin } from "#lib/host/mongodb/login.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isAmong, isInt, isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { loginArgs, needsMongodb } from "./_mongodb.ts";

export const virtual: Virtual = needsMongodb("user_exists");

const DATABASE_DOC = "\n\ndatabase\n    The database of the user.";

/** A user as it shall be. */
interface Wanted {
  readonly name: string;
  readonly passwd: string;
  readonly database: string;
  readonly roles: readonly Value[];
  readonly login: MongoLogin;
}

/** The user's roles in a database. */
function rolesIn(user: ValueMap, database: string): Value[] {
  return listOrEmpty(user.get("roles")).filter(isMap).filter((role) => role.get("db") === database)
    .map((role) => role.get("role") ?? null);
}

/** Gives an existing user the roles that it shall have, and no others of the database. Its password stays. */
async function changeRoles(wanted: Wanted, current: Value[], { call, test }: StateContext): Promise<StateResult> {
  const { name, database, roles, login } = wanted;
  const missing = roles.filter((role) => !isAmong(role, current));
  const extra = current.filter((role) => !isAmong(role, roles));
  const comment = `User ${name} is already present`;
  if (missing.length + extra.length === 0) return { ...startResult(name), comment };
  const changes = map({ [name]: { database, roles: { old: current, new: [...roles] } } });
  if (test) return { ...startResult(name, null), comment, changes };
  for (const [fun, list] of [["user_grant_roles", missing], ["user_revoke_roles", extra]] as const) {
    if (list.length === 0) continue;
    const done = await call(`mongodb.${fun}`, [name, list, database], loginArgs(login));
    if (done !== true) return failState(name, `Failed to change the roles of user ${name}: ${str(done)}`);
  }
  return { ...startResult(name), comment, changes };
}

async function create(
  { name, passwd, database, roles, login }: Wanted,
  { call, test }: StateContext,
): Promise<StateResult> {
  if (test) return { ...startResult(name, null), comment: `User ${name} is not present and needs to be created` };
  const created = await call("mongodb.user_create", [name, passwd], loginArgs(login, { database, roles: [...roles] }));
  // A text says that there is no connection.
  if (created !== true) return failState(name, `Failed to create database ${name}`);
  return { ...startResult(name), comment: `User ${name} has been created`, changes: map({ [name]: "Present" }) };
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that a user exists, with its roles.\n\nname\n    The user.\n\npasswd\n    The password of a new user." +
    `${DATABASE_DOC}\n\nroles\n    Its roles in this database: names.${MONGO_LOGIN_DOC}`,
  params: {
    name: p.str(),
    passwd: p.str(),
    database: p.str("admin"),
    user: p.str(null),
    password: p.str(null),
    host: p.str("localhost"),
    port: p.any(27017),
    ...AUTHDB,
    roles: p.list(null),
  },
  async run({ name, passwd, database, roles, ...given }, context) {
    const isText = typeof given.port === "string" && /^\d{1,5}$/.test(given.port);
    const port = isText ? Number(given.port) : given.port;
    if (!isInt(port)) return failState(name, `Port (${str(given.port)}) is not an integer.`);
    const login = { ...given, port };
    const users = await context.call("mongodb.user_find", [name], loginArgs(login, { database }));
    const [first, reason = null] = listOrEmpty(users);
    if (first !== undefined && !truthy(first)) return failState(name, `Mongo Err: ${str(reason)}`);
    const wanted = { name, passwd, database, roles: roles ?? [], login };
    return isMap(first) ? await changeRoles(wanted, rolesIn(first, database), context) : await create(wanted, context);
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a user does not exist.\n\nname\n    The user.${DATABASE_DOC}${MONGO_LOGIN_DOC}`,
  params: {
    name: p.str(),
    ...MONGO_LOGIN,
    database: p.str("admin"),
    ...AUTHDB,
  },
  async run({ name, database, ...login }, { call, test }) {
    const args = loginArgs(login, { database });
    const exists = await call("mongodb.user_exists", [name], args);
    if (typeof exists !== "boolean") return failState(name, str(exists));
    if (!exists) return { ...startResult(name), comment: `User ${name} is not present` };
    if (test) return { ...startResult(name, null), comment: `User ${name} is present and needs to be removed` };
    if (await call("mongodb.user_remove", [name], args) !== true) {
      return failState(name, `Failed to remove user ${name}`);
    }
    return { ...startResult(name), comment: `User ${name} has been removed`, changes: map({ [name]: "Absent" }) };
  },
});
