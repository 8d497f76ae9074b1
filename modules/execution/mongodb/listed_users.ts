/**
 * The users of a database, for functions of `mongodb` that look for one.
 * Source: Salt 3006.28 `salt/modules/mongodb.py` (`user_list`).
 * @module
 */

import { type MongoLogin } from "#lib/host/mongodb/login.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { withMongo } from "./connection.ts";

/** The arguments of a function that is about one database. */
export interface InDatabase extends MongoLogin {
  readonly database: string;
}

/** The users with their roles; a text says why there is no list. */
export function listedUsers({ database, ...login }: InDatabase, context: JobContext): Promise<Value> {
  return withMongo(login, context, {
    what: "Listing users",
    async use(connection) {
      const users = listOrEmpty((await connection.run(database, { usersInfo: 1 })).get("users"));
      return users.filter(isMap).map((user) => map({ user: user.get("user"), roles: user.get("roles") }));
    },
  });
}
