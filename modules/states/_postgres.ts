/**
 * Shared parts of the states of PostgreSQL: the arguments for the connection, and the removal of objects.
 * Source: Salt 3008.3, `salt/states/postgres_*.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { p } from "#lib/plugins/module.ts";
import { failState, startResult, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { map, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The states are available where the execution module finds PostgreSQL's programs. */
export function needsPostgres(fun: string): Virtual {
  const otherwise = "Unable to load postgres module.  Make sure `postgres.bins_dir` is set.";
  return { serves: [{ functions: [`postgres.${fun}`], otherwise }] };
}

/** The arguments for the connection, in the order that most of these states have. `user` runs psql. */
export const DB_ARGS = {
  user: p.str(null),
  maintenance_db: p.str(null),
  db_password: p.str(null),
  db_host: p.str(null),
  db_port: p.str(null),
  db_user: p.str(null),
};

/** The same in the order of extensions and tablespaces. */
export const DB_USER_FIRST = {
  user: p.str(null),
  maintenance_db: p.str(null),
  db_user: p.str(null),
  db_password: p.str(null),
  db_host: p.str(null),
  db_port: p.str(null),
};

/** The shared part of the documentation. */
export const DB_DOC =
  "\n\nuser\n    The user of this host who runs psql.\n\nmaintenance_db\n    The database to be connected to.\n\ndb_user, db_password, db_host, " +
  "db_port\n    Where and as whom psql connects. Default: the options `postgres.user` and so on.";

type DbArgs = Readonly<Record<"user" | "db_password" | "db_host" | "db_port" | "db_user", string | null>>;

/** The arguments for functions of the execution module. */
export function dbArgs(given: DbArgs & { readonly maintenance_db?: string | null }): ValueMap {
  const { user, db_user, db_password, db_host, db_port, maintenance_db } = given;
  return map({
    ...maintenance_db !== undefined && { maintenance_db },
    runas: user,
    host: db_host,
    user: db_user,
    port: db_port,
    password: db_password,
  });
}

/** Calls a function of `postgres` that returns a bool. */
export async function succeeds(
  context: StateContext,
  fun: string,
  args: Value[],
  kwargs: ValueMap,
): Promise<boolean> {
  return truthy(await context.call(`postgres.${fun}`, args, kwargs));
}

/** An object to remove. */
export interface Unwanted {
  readonly name: string;
  /** The subject of the texts about the object, such as `Database db`. */
  readonly what: string;
  /** The text after `is not present`. */
  readonly place?: string;
  readonly exists: () => Promise<boolean>;
  readonly remove: () => Promise<boolean>;
  /** The text if it could not be removed. Default: `… failed to be removed`. */
  readonly failure?: string;
}

/** Removes an existing object. */
export async function removeObject(
  { name, what, place = "", exists, remove, failure }: Unwanted,
  context: StateContext,
): Promise<StateResult> {
  if (!await exists()) {
    return { ...startResult(name), comment: `${what} is not present${place}, so it cannot be removed` };
  }
  if (context.test) return { ...startResult(name, null), comment: `${what} is set to be removed` };
  if (!await remove()) return failState(name, failure ?? `${what} failed to be removed`);
  return { ...startResult(name), comment: `${what} has been removed`, changes: map({ [name]: "Absent" }) };
}
