/**
 * State module `postgres_privileges`: what PostgreSQL's roles may do.
 * Source: Salt 3008.3 `salt/states/postgres_privileges.py`.
 * @module
 */

import { DB_ARGS, DB_DOC, dbArgs, needsPostgres, succeeds } from "./_postgres.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { map, str, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = needsPostgres("privileges_grant");

const DOC =
  "\n\nname\n    The role.\n\nobject_name, object_type\n    The table, sequence, schema, function, tablespace, language or database; or group, " +
  "of which the role is a member.\n\nprivileges\n    A list: SELECT, INSERT, …, or ALL.\n\nprepend\n    The schema. Default: public." +
  DB_DOC;

/** The list as one text; None if there is none. */
function joinPrivileges(privileges: readonly Value[] | null): string | null {
  return privileges === null || privileges.length === 0 ? null : privileges.map(str).join(",");
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a role has privileges.${DOC}\n\ngrant_option\n    Whether it may grant them to others.`,
  params: {
    name: p.str(),
    object_name: p.str(),
    object_type: p.str(),
    privileges: p.list(null),
    grant_option: p.any(null),
    prepend: p.str("public"),
    ...DB_ARGS,
  },
  async run({ name, object_name, object_type, privileges, grant_option, prepend, ...connection }, context) {
    const args = new Map([
      ...map({ privileges: joinPrivileges(privileges), grant_option, prepend }),
      ...dbArgs(connection),
    ]);
    const object = [name, object_name, object_type];
    if (await succeeds(context, "has_privileges", object, args)) {
      return { ...startResult(name), comment: "The requested privilege(s) are already set" };
    }
    const what = object_type === "group" ? object_name : joinPrivileges(privileges) ?? "None";
    if (context.test) {
      return { ...startResult(name, null), comment: `The privilege(s): ${what} are set to be granted to ${name}` };
    }
    if (!await succeeds(context, "privileges_grant", object, args)) {
      return failState(name, `Failed to grant privilege(s): ${what} to ${name}`);
    }
    const comment = `The privilege(s): ${what} have been granted to ${name}`;
    return { ...startResult(name), comment, changes: map({ [name]: "Present" }) };
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a role does not have privileges.${DOC}`,
  params: {
    name: p.str(),
    object_name: p.str(),
    object_type: p.str(),
    privileges: p.list(null),
    prepend: p.str("public"),
    ...DB_ARGS,
  },
  async run({ name, object_name, object_type, privileges, prepend, ...connection }, context) {
    const args = new Map([...map({ privileges: joinPrivileges(privileges), prepend }), ...dbArgs(connection)]);
    const object = [name, object_name, object_type];
    if (!await succeeds(context, "has_privileges", object, args)) {
      return { ...startResult(name), comment: "The requested privilege(s) are not set so cannot be revoked" };
    }
    const what = object_type === "group" ? object_name : joinPrivileges(privileges) ?? "None";
    if (context.test) {
      return { ...startResult(name, null), comment: `The privilege(s): ${what} are set to be revoked from ${name}` };
    }
    if (!await succeeds(context, "privileges_revoke", object, args)) {
      return failState(name, `Failed to revoke privilege(s): ${what} from ${name}`);
    }
    const comment = `The privilege(s): ${what} have been revoked from ${name}`;
    return { ...startResult(name), comment, changes: map({ [name]: "Absent" }) };
  },
});
