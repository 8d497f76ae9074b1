/**
 * State module `mysql_user`: users of MySQL and MariaDB.
 * Source: Salt 3006.28 `salt/states/mysql_user.py`, which Salt 3008 has no longer.
 * @module
 */

import {
  CONNECTION_DOC,
  connectionArgs,
  errorSuffix,
  lastFailure,
  MYSQL_KEYWORDS,
  mysqlSucceeds,
  needsMysql,
} from "./_mysql.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { map, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = needsMysql("user_create");

/** A user as it shall be. */
interface Wanted {
  readonly name: string;
  readonly host: string;
  readonly password: string | null;
  readonly password_hash: string | null;
  readonly allow_passwordless: Value;
  readonly unix_socket: Value;
  readonly password_column: string | null;
  readonly auth_plugin: string;
}

function isPasswordless({ password, password_hash }: Wanted): boolean {
  return !password && !password_hash;
}

/** The result if the user is as wanted, or the server cannot say. */
async function asWanted(wanted: Wanted, args: ValueMap, context: StateContext): Promise<StateResult | undefined> {
  const { name, host, password, password_hash, allow_passwordless, unix_socket, password_column, auth_plugin } = wanted;
  const login = isPasswordless(wanted) ? { passwordless: true } : { password, password_hash };
  const options = new Map([...map({ ...login, unix_socket, password_column }), ...args]);
  if (!await mysqlSucceeds(context, "user_exists", [name, host], options)) return lastFailure(name, context);
  const hash = password_hash && !password ? " hash" : "";
  const what = isPasswordless(wanted)
    ? truthy(allow_passwordless) ? " with passwordless login" : ""
    : auth_plugin === "mysql_native_password"
    ? ` with the desired password${hash}`
    : ". Unable to verify password.";
  return { ...startResult(name), comment: `User ${name}@${host} is already present${what}` };
}

async function changePassword(wanted: Wanted, args: ValueMap, context: StateContext): Promise<StateResult> {
  const { name, host, password, password_hash, allow_passwordless, unix_socket } = wanted;
  const [verb, done] = isPasswordless(wanted) ? ["clear", "cleared"] : ["change", "changed"];
  const isRefused = isPasswordless(wanted) && !isTrue(allow_passwordless);
  if (context.test) {
    const comment = `Password for user ${name}@${host} is set to be ${done}`;
    if (isRefused) return failState(name, `${comment}, but allow_passwordless != True`);
    return { ...startResult(name, null), comment };
  }
  const given = [name, host, password, password_hash, allow_passwordless, unix_socket];
  if (await mysqlSucceeds(context, "user_chpass", given, args)) {
    const comment = `Password for user ${name}@${host} has been ${done}`;
    return { ...startResult(name), comment, changes: map({ [name]: "Updated" }) };
  }
  const note = isRefused ? ". Note: allow_passwordless must be True to permit passwordless login." : "";
  return failState(name, `Failed to ${verb} password for user ${name}@${host}${errorSuffix(context)}${note}`);
}

async function create(wanted: Wanted, args: ValueMap, context: StateContext): Promise<StateResult> {
  const { name, host, password, password_hash, allow_passwordless, unix_socket, password_column, auth_plugin } = wanted;
  const how = (truthy(allow_passwordless) ? " with passwordless login" : "") +
    (truthy(allow_passwordless) && !isTrue(allow_passwordless) && context.test
      ? ", but allow_passwordless != True"
      : "") +
    (truthy(unix_socket) ? " using unix_socket" : "");
  if (context.test) {
    const result = truthy(allow_passwordless) && !isTrue(allow_passwordless) ? false : null;
    return { ...startResult(name, result), comment: `User ${name}@${host} is set to be added${how}` };
  }
  const options = new Map([...map({ unix_socket, password_column, auth_plugin }), ...args]);
  const given = [name, host, password, password_hash, allow_passwordless];
  if (!await mysqlSucceeds(context, "user_create", given, options)) {
    return failState(name, `Failed to create user ${name}@${host}${errorSuffix(context)}`);
  }
  const comment = `The user ${name}@${host} has been added${how}`;
  return { ...startResult(name), comment, changes: map({ [name]: "Present" }) };
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that a user exists.\n\nname, host\n    The user.\n\npassword\n    The password.\n\npassword_hash\n    Its hash, in place of " +
    "it.\n\nallow_passwordless\n    Whether there may be none.\n\nunix_socket\n    Whether the user of the host is asked for, in place of a " +
    "password.\n\npassword_column\n    The column of passwords.\n\nauth_plugin\n    The plugin of a new user's password, of MySQL since 8.0.11." +
    CONNECTION_DOC,
  ...MYSQL_KEYWORDS,
  params: {
    name: p.str(),
    host: p.str("localhost"),
    password: p.str(null),
    password_hash: p.str(null),
    allow_passwordless: p.any(false),
    unix_socket: p.any(false),
    password_column: p.str(null),
    auth_plugin: p.str("mysql_native_password"),
  },
  async run(wanted, context, { kwargs }) {
    const { name, host, allow_passwordless, unix_socket } = wanted;
    const args = connectionArgs(kwargs);
    if (isPasswordless(wanted) && !isTrue(allow_passwordless) && !truthy(unix_socket)) {
      return failState(name, "Either password or password_hash must be specified, unless allow_passwordless is True");
    }
    const reached = await asWanted(wanted, args, context);
    if (reached !== undefined) return reached;
    if (await mysqlSucceeds(context, "user_exists", [name, host], new Map([...map({ unix_socket }), ...args]))) {
      return await changePassword(wanted, args, context);
    }
    return lastFailure(name, context) ?? await create(wanted, args, context);
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a user does not exist.\n\nname, host\n    The user.${CONNECTION_DOC}`,
  ...MYSQL_KEYWORDS,
  params: { name: p.str(), host: p.str("localhost") },
  async run({ name, host }, context, { kwargs }) {
    const args = connectionArgs(kwargs);
    const missing = { ...startResult(name), comment: `User ${name}@${host} is not present, so it cannot be removed` };
    if (!await mysqlSucceeds(context, "user_exists", [name, host], args)) return lastFailure(name, context) ?? missing;
    if (context.test) return { ...startResult(name, null), comment: `User ${name}@${host} is set to be removed` };
    if (!await mysqlSucceeds(context, "user_remove", [name, host], args)) return lastFailure(name, context) ?? missing;
    return {
      ...startResult(name),
      comment: `User ${name}@${host} has been removed`,
      changes: map({ [name]: "Absent" }),
    };
  },
});
