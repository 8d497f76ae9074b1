/**
 * The functions of the module `postgres` for privileges.
 * Source: the functions of Salt 3008.3 `salt/modules/postgres.py`.
 * @module
 */

import { executeSql, type PsqlConnection, rowsOf } from "./psql.ts";
import {
  checkedKind,
  checkPrivileges,
  covers,
  ownerQuery,
  parseLists,
  parseMembers,
  type PrivilegeObject,
  privilegesQuery,
  privilegeWords,
} from "#lib/host/postgres/postgres_privileges.ts";
import { identifier } from "#lib/host/postgres/psql.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { truthy } from "#lib/values/value.ts";

const CONNECTION = {
  prepend: p.str("public"),
  maintenance_db: p.str(null),
  user: p.str(null),
  host: p.str(null),
  port: p.str(null),
  password: p.str(null),
  runas: p.str(null),
};

export const privileges_list: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return by role the privileges of a table, sequence, schema, function, tablespace, language or database, each with whether it\n" +
      "may be granted to others; of a group its members, each with whether it administers it. prepend: the schema.",
    "postgres.privileges_list table_name table maintenance_db=db_name",
  ),
  permissions: "all",
  params: { name: p.str(), object_type: p.str(), ...CONNECTION },
  async run({ name, object_type, prepend, ...connection }, context) {
    const kind = checkedKind(object_type);
    const rows = await rowsOf(privilegesQuery({ name, kind, schema: prepend }), connection, context);
    return kind === "group" ? parseMembers(rows) : parseLists(rows);
  },
});

/** What is granted, of what, to whom. */
interface Grant {
  readonly role: string;
  readonly object: PrivilegeObject;
  readonly privileges: string | null;
  readonly grantOption: boolean;
}

async function isGranted(
  { role, object, privileges, grantOption }: Grant,
  connection: PsqlConnection,
  context: JobContext,
) {
  checkPrivileges(object.kind, privileges);
  if (object.kind === "group") {
    const administers = parseMembers(await rowsOf(privilegesQuery(object), connection, context)).get(role);
    return administers !== undefined && (!grantOption || administers);
  }
  const [owner] = await rowsOf(ownerQuery(object), connection, context);
  if (owner?.name === role) return true;
  const granted = parseLists(await rowsOf(privilegesQuery(object), connection, context)).get(role);
  return granted !== undefined && covers(granted, object.kind, { words: privilegeWords(privileges), grantOption });
}

const OBJECT = { name: p.str(), object_name: p.str(), object_type: p.str(), privileges: p.str(null) };

export const has_privileges: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a role has privileges: of an object, or membership in a group. grant_option=True: and may grant them.",
    "postgres.has_privileges user_name table_name table SELECT,INSERT maintenance_db=db_name",
  ),
  permissions: "all",
  params: { ...OBJECT, grant_option: p.any(null), ...CONNECTION },
  run({ name, object_name, object_type, privileges, grant_option, prepend, ...connection }, context) {
    const object = { name: object_name, kind: checkedKind(object_type), schema: prepend };
    return isGranted({ role: name, object, privileges, grantOption: truthy(grant_option) }, connection, context);
  },
});

/** The object of a command: with its kind, and its schema where it has one. `ALL`: all of a schema. */
function placeOf({ name, kind, schema }: PrivilegeObject): string {
  const isInSchema = ["table", "sequence", "function"].includes(kind);
  if (isInSchema && name.toUpperCase() === "ALL") return `ALL ${kind.toUpperCase()}S IN SCHEMA ${schema}`;
  // A function is named by its arguments, too: `add(integer,integer)`.
  const own = kind === "function" && name.includes("(") ? name : identifier(name);
  return `${kind.toUpperCase()} ${isInSchema ? `${schema}.` : ""}${own}`;
}

function joinPrivileges(privileges: string | null): string {
  return privilegeWords(privileges).join(",");
}

export const privileges_grant: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Grant privileges of an object, or membership in a group, to a role. With object_name ALL: all tables, sequences or functions of\n" +
      "the schema prepend. Return whether this was done; False if it has them.",
    "postgres.privileges_grant user_name table_name table SELECT,UPDATE maintenance_db=db_name",
  ),
  permissions: "all",
  params: { ...OBJECT, grant_option: p.any(null), ...CONNECTION },
  async run({ name, object_name, object_type, privileges, grant_option, prepend, ...connection }, context) {
    const object = { name: object_name, kind: checkedKind(object_type), schema: prepend };
    if (await isGranted({ role: name, object, privileges, grantOption: false }, connection, context)) return false;
    const isGroup = object.kind === "group";
    const what = isGroup ? object_name : `${joinPrivileges(privileges)} ON ${placeOf(object)}`;
    const option = truthy(grant_option) ? ` WITH ${isGroup ? "ADMIN" : "GRANT"} OPTION` : "";
    return await executeSql(`GRANT ${what} TO ${identifier(name)}${option}`, connection, context);
  },
});

export const privileges_revoke: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Take privileges of an object, or membership in a group, from a role. Return whether this was done; False if it does not have them.",
    "postgres.privileges_revoke user_name table_name table SELECT,UPDATE maintenance_db=db_name",
  ),
  permissions: "all",
  params: { ...OBJECT, ...CONNECTION },
  async run({ name, object_name, object_type, privileges, prepend, ...connection }, context) {
    const object = { name: object_name, kind: checkedKind(object_type), schema: prepend };
    if (!await isGranted({ role: name, object, privileges, grantOption: false }, connection, context)) return false;
    const what = object.kind === "group" ? object_name : `${joinPrivileges(privileges)} ON ${placeOf(object)}`;
    return await executeSql(`REVOKE ${what} FROM ${/^\w+$/.test(name) ? name : identifier(name)}`, connection, context);
  },
});
