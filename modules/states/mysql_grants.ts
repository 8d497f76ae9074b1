/**
 * State module `mysql_grants`: what users of MySQL and MariaDB may do.
 * Source: Salt 3006.28 `salt/states/mysql_grants.py`, which Salt 3008 has no longer.
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
import { takeMysqlError } from "#lib/host/mysql/last_error.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = needsMysql("grant_exists");

const GRANT = {
  name: p.str(),
  grant: p.str(null),
  database: p.str(null),
  user: p.str(null),
  host: p.str("localhost"),
  grant_option: p.any(false),
  escape: p.bool(true),
};

const GRANT_DOC =
  "\n\nname\n    Has no effect.\n\ngrant\n    The privileges, with commas.\n\ndatabase\n    `database.*` or " +
  "`database.table`.\n\nuser, host\n    The user.\n\ngrant_option\n    Whether the user may grant them to others.\n\nescape\n    Whether the names " +
  "of database and table get quotes.";

/** A grant of the state. */
interface Wanted {
  readonly grant: string | null;
  readonly database: string | null;
  readonly user: string | null;
  readonly host: string;
  readonly grant_option: Value;
  readonly escape: boolean;
}

function argsOf({ grant, database, user, host, grant_option, escape }: Wanted): Value[] {
  return [str(grant), str(database), str(user), host, grant_option, escape];
}

/** Takes what the user has on the database, before it gets other privileges. */
async function revokeOthers(wanted: Wanted, args: ValueMap, context: StateContext): Promise<void> {
  const { user, host, grant_option, escape } = wanted;
  const database = str(wanted.database);
  const [name, table] = [database.slice(0, database.lastIndexOf(".")), database.slice(database.lastIndexOf(".") + 1)];
  const quoted = await context.call("mysql.quote_identifier", [name, table === "*"]);
  const place = `${str(quoted)}.${table === "*" ? table : str(await context.call("mysql.quote_identifier", [table]))}`;
  for (const grant of listOrEmpty(await context.call("mysql.user_grants", [str(user), host], args))) {
    const tokens = mapOrEmpty(await context.call("mysql.tokenize_grant", [grant]));
    const privileges = listOrEmpty(tokens.get("grant")).filter((one) => !str(one).includes("."));
    if (tokens.get("database") !== place || privileges.length === 0) continue;
    const revoked = map({ grant: privileges.map(str).join(","), database, user, host, grant_option, escape });
    await context.call("mysql.grant_revoke", [], new Map([...revoked, ...args]));
  }
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc:
    `Make sure that a user has privileges.${GRANT_DOC}\n\nrevoke_first\n    Whether what the user has on the database is taken ` +
    "before.\n\nssl_option\n    What the user's connections must have: a list of SSL, X509, SUBJECT, ISSUER, CIPHER with their " +
    `values.${CONNECTION_DOC}`,
  ...MYSQL_KEYWORDS,
  params: { ...GRANT, revoke_first: p.any(false), ssl_option: p.any(false) },
  async run({ name, revoke_first, ssl_option, ...wanted }, context, { kwargs }) {
    const args = connectionArgs(kwargs);
    const { grant, database, user, host } = wanted;
    const [what, to] = [str(grant), `${str(user)}@${host}`];
    if (await mysqlSucceeds(context, "grant_exists", argsOf(wanted), args)) {
      return { ...startResult(name), comment: `Grant ${what} on ${str(database)} to ${to} is already present` };
    }
    const failure = lastFailure(name, context);
    if (failure !== undefined) return failure;
    if (context.test) return { ...startResult(name, null), comment: `MySQL grant ${name} is set to be created` };
    if (revoke_first) await revokeOthers(wanted, args, context);
    if (await mysqlSucceeds(context, "grant_add", [...argsOf(wanted), ssl_option], args)) {
      const comment = `Grant ${what} on ${str(database)} to ${to} has been added`;
      return { ...startResult(name), comment, changes: map({ [name]: "Present" }) };
    }
    const failed = `Failed to execute: "GRANT ${what} ON ${str(database)} TO ${to}"`;
    return failState(name, `${failed}${errorSuffix(context)}`);
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a user has no privileges.${GRANT_DOC}${CONNECTION_DOC}`,
  ...MYSQL_KEYWORDS,
  params: GRANT,
  async run({ name, ...wanted }, context, { kwargs }) {
    const args = connectionArgs(kwargs);
    const { grant, database, user, host } = wanted;
    const [what, who] = [`${str(grant)} on ${str(database)}`, `${str(user)}@${host}`];
    const missing = `Grant ${what} to ${who} is not present, so it cannot be revoked`;
    if (!await mysqlSucceeds(context, "grant_exists", argsOf(wanted), args)) {
      const error = takeMysqlError(context);
      if (error === undefined) return { ...startResult(name), comment: missing };
      return failState(name, `Unable to determine if grant ${what} for ${who} exists (${error})`);
    }
    if (context.test) return { ...startResult(name, null), comment: `MySQL grant ${name} is set to be revoked` };
    if (!await mysqlSucceeds(context, "grant_revoke", argsOf(wanted).slice(0, -1), args)) {
      const error = takeMysqlError(context);
      if (error === undefined) return { ...startResult(name), comment: missing };
      return failState(name, `Unable to revoke grant ${what} for ${who} (${error})`);
    }
    const comment = `Grant ${what} for ${who} has been revoked`;
    return { ...startResult(name), comment, changes: map({ [name]: "Absent" }) };
  },
});
