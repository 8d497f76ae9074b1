/**
 * Where to connect to MongoDB and as whom, as the functions of `mongodb` and its states are told.
 * Source: Salt 3006.28 `salt/modules/mongodb.py`.
 * @module
 */

import { p } from "#lib/plugins/module.ts";
import type { Value } from "#lib/values/value.ts";

/** The arguments of a connection, in Salt's order. */
export const MONGO_LOGIN = { user: p.str(null), password: p.str(null), host: p.str(null), port: p.any(null) };

/** The argument that follows them in every function. */
export const AUTHDB = { authdb: p.str(null) };

/** The documentation of {@linkcode MONGO_LOGIN} and {@linkcode AUTHDB}. */
export const MONGO_LOGIN_DOC =
  "\n\nuser, password\n    Who connects. Default: the options `mongodb.user` and `mongodb.password`; without both there " +
  "is no login.\n\nhost, port\n    The server; `host` may also be a whole `mongodb://` URL. Default: the options " +
  "`mongodb.host` and `mongodb.port`.\n\nauthdb\n    The database that knows `user`.";

/** What those arguments are bound to. */
export interface MongoLogin {
  readonly user: string | null;
  readonly password: string | null;
  readonly host: string | null;
  readonly port: Value;
  readonly authdb: string | null;
}
