/**
 * State module `postgres_group`: groups of PostgreSQL, which are roles that cannot log in.
 * Source: Salt 3008.3 `salt/states/postgres_group.py`.
 * @module
 */

import { DB_ARGS, DB_DOC, needsPostgres } from "./_postgres.ts";
import { ROLE_DOC, roleAbsent, rolePresent } from "./_postgres_roles.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";

export const virtual: Virtual = needsPostgres("group_create");

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a group exists with these properties.\n\nname\n    The group.${ROLE_DOC}${DB_DOC}`,
  params: {
    name: p.str(),
    createdb: p.any(null),
    createroles: p.any(null),
    encrypted: p.any(null),
    superuser: p.any(null),
    inherit: p.any(null),
    login: p.any(null),
    replication: p.any(null),
    password: p.any(null),
    refresh_password: p.any(null),
    groups: p.any(null),
    ...DB_ARGS,
  },
  run: (given, context) => rolePresent("group", given, given, context),
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a group does not exist.\n\nname\n    The group.${DB_DOC}`,
  params: { name: p.str(), ...DB_ARGS },
  run: (given, context) => roleAbsent("group", given.name, given, context),
});
