/**
 * Shared parts of the states of MongoDB: where they load, and the arguments of a connection.
 * Source: Salt 3006.28 `salt/states/mongodb_*.py`, which Salt 3008 has no longer.
 * @module
 */

import type { MongoLogin } from "#lib/host/mongodb/login.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** The states load where the execution module does. */
export function needsMongodb(fun: string): Virtual {
  return { serves: [{ functions: [`mongodb.${fun}`], otherwise: "mongodb module could not be loaded" }] };
}

/** The keywords of a call of `mongodb`. */
export function loginArgs(
  { user, password, host, port, authdb }: MongoLogin,
  more: Readonly<Record<string, Value>> = {},
): ValueMap {
  return map({ user, password, host, port, authdb, ...more });
}
