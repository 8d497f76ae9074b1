/**
 * The functions of the module `postgres` for the schemas and languages of a database.
 * Source: the functions of Salt 3008.3 `salt/modules/postgres.py`.
 * @module
 */

import { executeSql, type PsqlConnection, rowsOf } from "./psql.ts";
import { identifier, type Row } from "#lib/host/postgres/psql.ts";
import { CommandError } from "#lib/errors.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";

/** The parameters of functions of schemas, in which `user` runs psql. */
const SCHEMA_CONNECTION = {
  user: p.str(null),
  db_user: p.str(null),
  db_password: p.str(null),
  db_host: p.str(null),
  db_port: p.str(null),
};

type SchemaConnection = Readonly<Record<keyof typeof SCHEMA_CONNECTION, string | null>>;

function inDatabase(
  maintenance_db: string,
  { user, db_user, db_password, db_host, db_port }: SchemaConnection,
): PsqlConnection {
  return { user: db_user, host: db_host, port: db_port, maintenance_db, password: db_password, runas: user };
}

const SCHEMAS = 'SELECT pg_namespace.nspname as "name",pg_namespace.nspacl as "acl", pg_roles.rolname as "owner" ' +
  "FROM pg_namespace LEFT JOIN pg_roles ON pg_roles.oid = pg_namespace.nspowner ";

async function schemas(connection: PsqlConnection, context: JobContext): Promise<Map<string, Row>> {
  const rows = await rowsOf(SCHEMAS, connection, context);
  return new Map(rows.map(({ name, owner, acl }) => [name, { owner, acl }]));
}

export const schema_list: ModuleFunction<JobContext> = fn({
  doc: describe("Return the schemas of a database by name, with owner and privileges.", "postgres.schema_list dbname"),
  permissions: "all",
  params: { dbname: p.str(), ...SCHEMA_CONNECTION },
  run: ({ dbname, ...connection }, context) => schemas(inDatabase(dbname, connection), context),
});

const SCHEMA = { dbname: p.str(), name: p.str(), ...SCHEMA_CONNECTION };

export const schema_get: ModuleFunction<JobContext> = fn({
  doc: describe("Return the owner and the privileges of a schema, or None.", "postgres.schema_get dbname name"),
  permissions: "all",
  params: SCHEMA,
  run: async ({ dbname, name, ...connection }, context) =>
    (await schemas(inDatabase(dbname, connection), context)).get(name) ?? null,
});

export const schema_exists: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a database has a schema.", "postgres.schema_exists dbname schemaname"),
  permissions: "all",
  params: SCHEMA,
  run: async ({ dbname, name, ...connection }, context) =>
    (await schemas(inDatabase(dbname, connection), context)).has(name),
});

export const schema_create: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make a schema. Return whether it was made; False if it is there.",
    "postgres.schema_create dbname name owner='owner'",
  ),
  permissions: "all",
  params: { dbname: p.str(), name: p.str(), owner: p.str(null), ...SCHEMA_CONNECTION },
  async run({ dbname, name, owner, ...connection }, context) {
    const place = inDatabase(dbname, connection);
    if ((await schemas(place, context)).has(name)) return false;
    const owned = owner === null ? "" : ` AUTHORIZATION ${identifier(owner)}`;
    return await executeSql(`CREATE SCHEMA ${identifier(name)}${owned}`, place, context);
  },
});

export const schema_remove: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove a schema. Return whether it is gone; False if it was not there.",
    "postgres.schema_remove dbname name",
  ),
  permissions: "all",
  params: SCHEMA,
  async run({ dbname, name, ...connection }, context) {
    const place = inDatabase(dbname, connection);
    if (!(await schemas(place, context)).has(name)) return false;
    await executeSql(`DROP SCHEMA ${identifier(name)}`, place, context);
    return !(await schemas(place, context)).has(name);
  },
});

/** The parameters of functions of languages, which are a database's. */
const LANGUAGE_CONNECTION = {
  maintenance_db: p.str(),
  user: p.str(null),
  host: p.str(null),
  port: p.str(null),
  password: p.str(null),
  runas: p.str(null),
};

async function languages(connection: PsqlConnection, context: JobContext): Promise<Map<string, string>> {
  const rows = await rowsOf('SELECT lanname AS "Name" FROM pg_language', connection, context);
  return new Map(rows.map(({ Name }) => [Name, Name]));
}

export const language_list: ModuleFunction<JobContext> = fn({
  doc: describe("Return the languages of a database, by name.", "postgres.language_list dbname"),
  permissions: "all",
  params: LANGUAGE_CONNECTION,
  run: languages,
});

const LANGUAGE = { name: p.str(), ...LANGUAGE_CONNECTION };

export const language_exists: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a database has a language.", "postgres.language_exists plpgsql dbname"),
  permissions: "all",
  params: LANGUAGE,
  run: async ({ name, ...connection }, context) => (await languages(connection, context)).has(name),
});

export const language_create: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Install a language in a database. Return whether this was done; False if it is there.",
    "postgres.language_create plpythonu dbname",
  ),
  permissions: "all",
  params: LANGUAGE,
  async run({ name, ...connection }, context) {
    if ((await languages(connection, context)).has(name)) return false;
    return await executeSql(`CREATE LANGUAGE ${plain(name)}`, connection, context);
  },
});

export const language_remove: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove a language from a database. Return whether this was done; False if it is not there.",
    "postgres.language_remove plpgsql dbname",
  ),
  permissions: "all",
  params: LANGUAGE,
  async run({ name, ...connection }, context) {
    if (!(await languages(connection, context)).has(name)) return false;
    return await executeSql(`DROP LANGUAGE ${plain(name)}`, connection, context);
  },
});

/** A name that is written without quotes. */
function plain(name: string): string {
  if (/^[\w$]+$/.test(name)) return name;
  throw new CommandError(`Invalid name: ${JSON.stringify(name)}`);
}
