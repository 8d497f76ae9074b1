/**
 * The functions of the module `postgres` for extensions.
 * Source: the functions of Salt 3008.3 `salt/modules/postgres.py`.
 * @module
 */

import { CONNECTION, executeSql, type PsqlConnection, rowsOf } from "./psql.ts";
import { identifier, type Row } from "#lib/host/postgres/psql.ts";
import { checkedWord } from "#lib/programs/run_program.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { compareLooseVersions } from "#lib/text/loose_version.ts";
import { truthy } from "#lib/values/value.ts";

async function available(connection: PsqlConnection, context: JobContext): Promise<Map<string, Row>> {
  const rows = await rowsOf("select * from pg_available_extensions();", connection, context);
  return new Map(rows.filter((row) => row.default_version !== undefined).map((row) => [row.name, row]));
}

async function listInstalled(connection: PsqlConnection, context: JobContext): Promise<Map<string, Row>> {
  const query =
    "select a.*, b.nspname as schema_name from pg_extension a,  pg_namespace b where a.extnamespace = b.oid;";
  const rows = await rowsOf(query, connection, context);
  return new Map(rows.filter((row) => row.extversion !== undefined).map((row) => [row.extname, row]));
}

export const available_extensions: ModuleFunction<JobContext> = fn({
  doc: describe("Return the extensions that could be installed, by name.", "postgres.available_extensions"),
  permissions: "all",
  params: CONNECTION,
  run: available,
});

export const installed_extensions: ModuleFunction<JobContext> = fn({
  doc: describe("Return the installed extensions, by name.", "postgres.installed_extensions"),
  permissions: "all",
  params: CONNECTION,
  run: listInstalled,
});

const NAMED = { name: p.str(), ...CONNECTION };

export const get_available_extension: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return information about an extension that could be installed, or None.",
    "postgres.get_available_extension plpgsql",
  ),
  permissions: "all",
  params: NAMED,
  run: async ({ name, ...connection }, context) => (await available(connection, context)).get(name) ?? null,
});

export const get_installed_extension: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return information about an installed extension, or None.",
    "postgres.get_installed_extension plpgsql",
  ),
  permissions: "all",
  params: NAMED,
  run: async ({ name, ...connection }, context) => (await listInstalled(connection, context)).get(name) ?? null,
});

async function isAvailable(name: string, connection: PsqlConnection, context: JobContext): Promise<boolean> {
  const names = [...(await available(connection, context)).keys()];
  return names.some((one) => one.toLowerCase() === name.toLowerCase());
}

export const is_available_extension: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether an extension could be installed.", "postgres.is_available_extension plpgsql"),
  permissions: "all",
  params: NAMED,
  run: ({ name, ...connection }, context) => isAvailable(name, connection, context),
});

export const is_installed_extension: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether an extension is installed.", "postgres.is_installed_extension plpgsql"),
  permissions: "all",
  params: NAMED,
  run: async ({ name, ...connection }, context) => (await listInstalled(connection, context)).has(name),
});

/** What is wanted of an extension. */
interface Wanted {
  readonly name: string;
  readonly ext_version: string | null;
  readonly schema: string | null;
}

const MISSING = "EXTENSION NOT INSTALLED";
const INSTALLED = "EXTENSION INSTALLED";
const OLD = "EXTENSION TO UPGRADE";
const ELSEWHERE = "EXTENSION TO MOVE";

async function situation(
  { name, ext_version, schema }: Wanted,
  connection: PsqlConnection,
  context: JobContext,
): Promise<string[]> {
  const extension = (await listInstalled(connection, context)).get(name);
  if (extension === undefined) return [MISSING];
  const isOld = ext_version !== null && compareLooseVersions(extension.extversion, ext_version) < 0;
  const isElsewhere = schema !== null && extension.extrelocatable === "t" && extension.schema_name !== schema;
  return [INSTALLED, ...isOld ? [OLD] : [], ...isElsewhere ? [ELSEWHERE] : []];
}

export const create_metadata: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return the state of an extension, a list of: ${[MISSING, INSTALLED, OLD, ELSEWHERE].join(", ")}.`,
    "postgres.create_metadata adminpack",
  ),
  permissions: "all",
  params: { name: p.str(), ext_version: p.str(null), schema: p.str(null), ...CONNECTION },
  run: ({ name, ext_version, schema, ...connection }, context) =>
    situation({ name, ext_version, schema }, connection, context),
});

export const drop_extension: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove an extension, and the objects that depend on it unless cascade=False. Return whether it is gone.",
    "postgres.drop_extension 'adminpack'",
  ),
  permissions: "all",
  params: { name: p.str(), if_exists: p.any(null), restrict: p.any(null), cascade: p.any(null), ...CONNECTION },
  async run({ name, if_exists, restrict, cascade, ...connection }, context) {
    const words = [
      "DROP EXTENSION",
      ...truthy(if_exists) ? ["IF EXISTS"] : [],
      /^\w+$/.test(name) ? name : identifier(name),
      ...truthy(cascade ?? true) ? ["CASCADE"] : [],
      ...truthy(restrict) ? ["RESTRICT"] : [],
      ";",
    ];
    if ((await listInstalled(connection, context)).has(name)) await executeSql(words.join(" "), connection, context);
    return !(await listInstalled(connection, context)).has(name);
  },
});

/** The command that makes an extension as wanted; an empty string if there is nothing to do. */
function command(
  { name, ext_version, schema }: Wanted,
  { flags, ifNotExists, from }: {
    readonly flags: readonly string[];
    readonly ifNotExists: boolean;
    readonly from: string | null;
  },
): string {
  const version = (word: string, value: string) =>
    `${word} ${checkedWord(value, "version").replace(/[^\w.'"~+-]/g, "")}`;
  if (flags.includes(MISSING)) {
    const options = [
      ...schema ? [`SCHEMA ${identifier(schema)}`] : [],
      ...ext_version ? [version("VERSION", ext_version)] : [],
      ...from ? [version("FROM", from)] : [],
    ];
    const words = ["CREATE EXTENSION", ...ifNotExists ? ["IF NOT EXISTS"] : [], identifier(name)];
    return [...words, ...options.length === 0 ? [] : ["WITH", ...options], ";"].join(" ");
  }
  return [
    ...schema && flags.includes(ELSEWHERE)
      ? [`ALTER EXTENSION ${identifier(name)} SET SCHEMA ${identifier(schema)};`]
      : [],
    ...ext_version && flags.includes(OLD)
      ? [`ALTER EXTENSION ${identifier(name)} ${version("UPDATE TO", ext_version)};`]
      : [],
  ].join(" ");
}

export const create_extension: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Install an extension, move it to a schema, or update it. Return whether it is as requested.",
    "postgres.create_extension 'adminpack'",
  ),
  permissions: "all",
  params: {
    name: p.str(),
    if_not_exists: p.any(null),
    schema: p.str(null),
    ext_version: p.str(null),
    from_version: p.str(null),
    ...CONNECTION,
  },
  async run({ name, if_not_exists, schema, ext_version, from_version, ...connection }, context) {
    const wanted = { name, ext_version, schema };
    const flags = await situation(wanted, connection, context);
    if (await isAvailable(name, connection, context)) {
      const sql = command(wanted, { flags, ifNotExists: truthy(if_not_exists ?? true), from: from_version });
      if (sql !== "") await executeSql(sql, connection, context);
    }
    const now = await situation(wanted, connection, context);
    return now.every((flag) => flag === INSTALLED);
  },
});
