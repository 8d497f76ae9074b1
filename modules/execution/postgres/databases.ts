/**
 * Execution module `postgres`: databases, tablespaces and database clusters of PostgreSQL, by psql. Roles, extensions
 * and privileges are in `roles.ts`, `extensions.ts` and `privileges.ts`, schemas and languages in `schemas.ts`. Source:
 * the functions of Salt 3008.3 `salt/modules/postgres.py`.
 * @module
 */

import {
  CONNECTION,
  connectionOf,
  executeSql,
  postgresProgram,
  psql,
  type PsqlConnection,
  rowsBy,
  rowsOf,
  runServerProgram,
  withSecretFile,
} from "./psql.ts";
import { identifier, quoteSql, type Row } from "#lib/host/postgres/psql.ts";
import { CommandError } from "#lib/errors.ts";
import { checkedWord } from "#lib/programs/run_program.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { str, truthy } from "#lib/values/value.ts";

export const virtual: Virtual = {
  name: "postgres",
  serves: [{ programs: ["psql"], otherwise: "psql was not found" }],
};

export const version: ModuleFunction<JobContext> = fn({
  doc: describe("Return the version of the server.", "postgres.version"),
  permissions: "all",
  params: CONNECTION,
  async run(connection, context) {
    const query = "SELECT setting FROM pg_catalog.pg_settings WHERE name = 'server_version'";
    const result = await psql(["-c", query, "-t"], connection, context);
    return str(result.get("stdout") ?? "").split("\n")[0] || null;
  },
});

export const psql_query: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the rows of a query, a list of maps; an empty list if it fails. write=True: the query changes data.",
    "postgres.psql_query 'select * from pg_stat_activity'",
  ),
  permissions: "all",
  params: { query: p.str(), ...CONNECTION, write: p.bool(false) },
  run: ({ query, write, ...connection }, context) => rowsOf(query, connection, context, write),
});

const DATABASES = 'SELECT datname as "Name", pga.rolname as "Owner", ' +
  'pg_encoding_to_char(encoding) as "Encoding", ' +
  'datcollate as "Collate", datctype as "Ctype", ' +
  'datacl as "Access privileges", spcname as "Tablespace" ' +
  "FROM pg_database pgd, pg_roles pga, pg_tablespace pgts " +
  "WHERE pga.oid = pgd.datdba AND pgts.oid = pgd.dattablespace";

async function databases(connection: PsqlConnection, context: JobContext): Promise<Map<string, Row>> {
  return rowsBy(await rowsOf(DATABASES, connection, context), "Name");
}

export const db_list: ModuleFunction<JobContext> = fn({
  doc: describe("Return the databases by name, with owner, encoding, locale and tablespace.", "postgres.db_list"),
  permissions: "all",
  params: CONNECTION,
  run: databases,
});

export const db_exists: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether there is a database.", "postgres.db_exists 'dbname'"),
  permissions: "all",
  params: { name: p.str(), ...CONNECTION },
  run: async ({ name, ...connection }, context) => (await databases(connection, context)).has(name),
});

export const db_create: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make a database. Return whether it succeeded.",
    "postgres.db_create 'dbname'",
    "postgres.db_create 'dbname' template=template_postgis",
  ),
  permissions: "all",
  params: {
    name: p.str(),
    ...withoutRunas(),
    tablespace: p.str(null),
    encoding: p.str(null),
    lc_collate: p.str(null),
    lc_ctype: p.str(null),
    owner: p.str(null),
    template: p.str(null),
    runas: p.str(null),
  },
  async run({ name, tablespace, encoding, lc_collate, lc_ctype, owner, template, ...connection }, context) {
    const options = Object.entries({
      TABLESPACE: tablespace && identifier(tablespace),
      OWNER: owner && identifier(owner),
      TEMPLATE: template && checkedWord(template, "template"),
      ENCODING: encoding && quoteSql(encoding),
      LC_COLLATE: lc_collate && quoteSql(lc_collate),
      LC_CTYPE: lc_ctype && quoteSql(lc_ctype),
    }).flatMap(([key, value]) => value === null ? [] : [`${key} = ${value}`]);
    const clause = options.length === 0 ? "" : ` WITH ${options.join(" ")}`;
    return await executeSql(`CREATE DATABASE ${identifier(name)}${clause}`, connection, context);
  },
});

/** The parameters of a connection, for functions whose `runas` comes last. */
function withoutRunas() {
  const { runas: _runas, ...others } = CONNECTION;
  return others;
}

export const db_alter: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Change the tablespace and the owner of a database; owner_recurse=True: the owner of all that is in it. Return whether it went\n" +
      "well.",
    "postgres.db_alter dbname owner=otheruser",
  ),
  permissions: "all",
  params: {
    name: p.str(),
    ...withoutRunas(),
    tablespace: p.str(null),
    owner: p.str(null),
    owner_recurse: p.bool(false),
    runas: p.str(null),
  },
  async run({ name, tablespace, owner, owner_recurse, ...connection }, context) {
    if (owner && owner_recurse) return (await ownAll(name, owner, connection, context)).get("retcode") === 0;
    let isDone = true;
    const changes = [
      ...owner ? [`OWNER TO ${identifier(owner)}`] : [],
      ...tablespace ? [`SET TABLESPACE ${identifier(tablespace)}`] : [],
    ];
    for (const change of changes) {
      isDone = await executeSql(`ALTER DATABASE ${identifier(name)} ${change}`, connection, context) && isDone;
    }
    return isDone;
  },
});

export const db_remove: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a database, after its sessions are ended. Return True.", "postgres.db_remove 'dbname'"),
  permissions: "all",
  params: { name: p.str(), ...CONNECTION },
  async run({ name, ...connection }, context) {
    const commands = [
      `REVOKE CONNECT ON DATABASE ${identifier(name)} FROM public;`,
      `SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${
        quoteSql(name)
      } AND pid <> pg_backend_pid();`,
      `DROP DATABASE ${identifier(name)};`,
    ];
    for (const command of commands) {
      const result = await psql(["-c", command], connection, context);
      if (result.get("retcode") !== 0) throw new CommandError(`Failed: ret=${str(result)}`);
    }
    return true;
  },
});

const TABLESPACES = 'SELECT spcname as "Name", pga.rolname as "Owner", spcacl as "ACL", ' +
  'spcoptions as "Opts", pg_tablespace_location(pgts.oid) as "Location" ' +
  "FROM pg_tablespace pgts, pg_roles pga WHERE pga.oid = pgts.spcowner";

async function tablespaces(connection: PsqlConnection, context: JobContext): Promise<Map<string, Row>> {
  return rowsBy(await rowsOf(TABLESPACES, connection, context), "Name");
}

export const tablespace_list: ModuleFunction<JobContext> = fn({
  doc: describe("Return the tablespaces by name, with owner, place and options.", "postgres.tablespace_list"),
  permissions: "all",
  params: CONNECTION,
  run: tablespaces,
});

export const tablespace_exists: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether there is a tablespace.", "postgres.tablespace_exists 'dbname'"),
  permissions: "all",
  params: { name: p.str(), ...CONNECTION },
  run: async ({ name, ...connection }, context) => (await tablespaces(connection, context)).has(name),
});

export const tablespace_create: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make a tablespace in a directory. Return whether it succeeded.",
    "postgres.tablespace_create tablespacename '/path/datadir'",
  ),
  permissions: "all",
  params: { name: p.str(), location: p.str(), options: p.dict(null), owner: p.str(null), ...CONNECTION },
  async run({ name, location, options, owner, ...connection }, context) {
    const owned = owner ? `OWNER ${identifier(owner)}` : "";
    const pairs = [...options ?? []].map(([key, value]) => `${str(key)} = ${str(value)}`).join(", ");
    const clause = pairs === "" ? "" : `WITH ( ${pairs} )`;
    const query = `CREATE TABLESPACE ${identifier(name)} ${owned} LOCATION ${quoteSql(location)} ${clause}`;
    return await executeSql(query, connection, context);
  },
});

export const tablespace_alter: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Change a tablespace: its name, its owner, an option (a map of one). Return whether it succeeded.",
    "postgres.tablespace_alter tsname new_owner=otheruser",
    "postgres.tablespace_alter index_space new_name=fast_raid",
    "postgres.tablespace_alter tsname reset_option=seq_page_cost",
  ),
  permissions: "all",
  params: {
    name: p.str(),
    ...withoutRunas(),
    new_name: p.str(null),
    new_owner: p.str(null),
    set_option: p.dict(null),
    reset_option: p.str(null),
    runas: p.str(null),
  },
  async run({ name, new_name, new_owner, set_option, reset_option, ...connection }, context) {
    const [option] = set_option ?? [];
    const changes = [
      ...new_name ? [`RENAME TO ${identifier(new_name)}`] : [],
      ...new_owner ? [`OWNER TO ${identifier(new_owner)}`] : [],
      ...option === undefined ? [] : [`SET (${str(option[0])} = ${str(option[1])})`],
      ...reset_option ? [`RESET (${reset_option})`] : [],
    ];
    for (const change of changes) {
      if (!await executeSql(`ALTER TABLESPACE ${identifier(name)} ${change}`, connection, context)) return false;
    }
    return true;
  },
});

export const tablespace_remove: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a tablespace. Return whether it succeeded.", "postgres.tablespace_remove tsname"),
  permissions: "all",
  params: { name: p.str(), ...CONNECTION },
  run: ({ name, ...connection }, context) => executeSql(`DROP TABLESPACE ${identifier(name)}`, connection, context),
});

/** What gets another owner: the command's words, and the query for the names of all such things in a database. */
const OWNED: readonly (readonly [string, string])[] = [
  ["alter schema", "select quote_ident(schema_name) as n from information_schema.schemata;"],
  [
    "alter table",
    "select quote_ident(table_schema)||'.'||quote_ident(table_name) as n from information_schema.tables where table_schema not in " +
    "('pg_catalog', 'information_schema');",
  ],
  [
    "alter routine",
    "select p.oid::regprocedure::text as n from pg_catalog.pg_proc p join pg_catalog.pg_namespace ns on p.pronamespace=ns.oid where " +
    "ns.nspname not in ('pg_catalog', 'information_schema');",
  ],
  [
    "alter sequence",
    "select quote_ident(sequence_schema)||'.'||quote_ident(sequence_name) as n from information_schema.sequences;",
  ],
];

/**
 * Gives a database and all that is in it to an owner, in one transaction.
 * @returns What became of psql.
 */
async function ownAll(database: string, owner: string, connection: PsqlConnection, context: JobContext) {
  const place = { ...connectionOf(connection), maintenance_db: database };
  const to = `owner to ${identifier(owner)};`;
  const commands = ["begin;", `alter database ${identifier(database)} ${to}`];
  for (const [change, query] of OWNED) {
    for (const { n } of await rowsOf(query, place, context)) commands.push(`${change} ${n} ${to}`);
  }
  const path = Deno.makeTempFileSync({ prefix: "salt_" });
  try {
    Deno.writeTextFileSync(path, `${commands.join("\n")}\ncommit;\n`);
    Deno.chmodSync(path, 0o644); // psql reads it as another user
    return await psql(["-f", path], place, context);
  } finally {
    Deno.removeSync(path);
  }
}

export const owner_to: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Change the owner of a database and of all schemas, tables, views, functions and sequences in it. Return the result of psql.",
    "postgres.owner_to 'dbname' 'username'",
  ),
  permissions: "all",
  params: {
    dbname: p.str(),
    ownername: p.str(),
    user: p.str(null),
    host: p.str(null),
    port: p.str(null),
    password: p.str(null),
    runas: p.str(null),
  },
  run: ({ dbname, ownername, ...connection }, context) =>
    ownAll(dbname, ownername, { ...connection, maintenance_db: dbname }, context),
});

function isDataDirectory(path: string): boolean {
  return ["PG_VERSION", "postgresql.conf"].every((name) => isFile(`${path}/${name}`));
}

export const datadir_exists: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a directory holds a database cluster.",
    "postgres.datadir_exists '/var/lib/pgsql/data'",
  ),
  permissions: "all",
  params: { name: p.str() },
  run: ({ name }) => isDataDirectory(name),
});

export const datadir_init: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make a database cluster in a directory, by initdb. Return whether this was done; False if there is one.",
    "postgres.datadir_init '/var/lib/pgsql/data'",
  ),
  permissions: "all",
  params: {
    name: p.str(),
    auth: p.str("password"),
    user: p.str(null),
    password: p.str(null),
    encoding: p.str("UTF8"),
    locale: p.any(null),
    waldir: p.str(null),
    checksums: p.any(false),
    runas: p.str(null),
  },
  async run({ name, auth, user, password, encoding, locale, waldir, checksums, runas: given }, context) {
    if (isDataDirectory(name)) return false;
    const runas = given ?? "postgres";
    const words = [
      await postgresProgram("initdb", context),
      `--pgdata=${name}`,
      `--username=${user ?? runas}`,
      `--auth=${auth}`,
      `--encoding=${encoding}`,
      ...locale === null ? [] : [`--locale=${str(locale)}`],
      ...waldir === null ? [] : ["-X", waldir],
      ...truthy(checksums) ? ["--data-checksums"] : [],
    ];
    const run = (more: readonly string[]) => runServerProgram([...words, ...more], { runas, env: null }, context);
    const result = password === null
      ? await run([])
      : await withSecretFile(password, runas, context, (path) => run([`--pwfile=${path}`]));
    return result.get("retcode") === 0;
  },
});
