/**
 * Shared parts of the states of MySQL: where they load, and the keywords of a connection.
 * Source: Salt 3006.28 `salt/states/mysql_*.py`, which Salt 3008 has no longer.
 * @module
 */

import { CONNECTION_KEYWORDS } from "#lib/host/mysql/connection_keywords.ts";
import { takeMysqlError } from "#lib/host/mysql/last_error.ts";
import type { JobContext, StateContext } from "#lib/plugins/job_context.ts";
import { failState, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The states load where the execution module does. */
export function needsMysql(fun: string): Virtual {
  return { serves: [{ functions: [`mysql.${fun}`], otherwise: "mysql module could not be loaded" }] };
}

/** What all declarations of the states share. */
export const MYSQL_KEYWORDS = { varKwargs: "connection_args", keywords: CONNECTION_KEYWORDS } as const;

/** The documentation of what they share. */
export const CONNECTION_DOC =
  "\n\nconnection_host, connection_port, connection_unix_socket, connection_user, connection_pass, connection_charset, " +
  "connection_default_file\n    Where and as whom to connect. Default: the options `mysql.host` and so on.";

/** The keywords of a connection among those of a state. */
export function connectionArgs(kwargs: ValueMap): ValueMap {
  return new Map([...kwargs].filter(([key]) => typeof key === "string" && CONNECTION_KEYWORDS.includes(key)));
}

/** Calls a function of `mysql`, and says whether its result is true. */
export async function mysqlSucceeds(
  context: JobContext,
  fun: string,
  args: Value[],
  kwargs: ValueMap,
): Promise<boolean> {
  return truthy(await context.call(`mysql.${fun}`, args, kwargs));
}

/** The result if the last call has failed; `undefined`: it has not. */
export function lastFailure(name: Value, context: StateContext): StateResult | undefined {
  const error = takeMysqlError(context);
  return error === undefined ? undefined : failState(name, error);
}

/** ` (the last error)`, or nothing. */
export function errorSuffix(context: StateContext): string {
  const error = takeMysqlError(context);
  return error === undefined ? "" : ` (${error})`;
}
