/**
 * State module `postgres_user`: users of PostgreSQL.
 * Source: Salt 3008.3 `salt/states/postgres_user.py`.
 * @module
 */

import { DB_ARGS, DB_DOC, needsPostgres } from "./_postgres.ts";
import { ROLE_DOC, roleAbsent, rolePresent } from "./_postgres_roles.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";

export const virtual: Virtual = needsPostgres("user_exists");

export const present: ModuleFunction<StateContext> = stateFn({
  doc:
    `Make sure that a user exists with these properties.\n\nname\n    The user.${ROLE_DOC}\n\ndefault_password\n    The password of a new user ` +
    `only.\n\nvalid_until\n    The time at which the password expires.${DB_DOC}`,
  params: {
    name: p.str(),
    createdb: p.any(null),
    createroles: p.any(null),
    encrypted: p.any(null),
    superuser: p.any(null),
    replication: p.any(null),
    inherit: p.any(null),
    login: p.any(null),
    password: p.any(null),
    default_password: p.any(null),
    refresh_password: p.any(null),
    valid_until: p.str(null),
    groups: p.any(null),
    ...DB_ARGS,
  },
  run: (given, context) => rolePresent("user", given, given, context),
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a user does not exist.\n\nname\n    The user.${DB_DOC}`,
  params: { name: p.str(), ...DB_ARGS },
  run: (given, context) => roleAbsent("user", given.name, given, context),
});
