/**
 * State module `mysql_query`: statements in a database of MySQL and MariaDB.
 * Source: Salt 3006.28 `salt/states/mysql_query.py`, which Salt 3008 has no longer.
 * @module
 */

import { CONNECTION_DOC, connectionArgs, lastFailure, MYSQL_KEYWORDS, mysqlSucceeds, needsMysql } from "./_mysql.ts";
import { saltenvOf } from "./_saltenv.ts";
import { exists, isFile } from "#lib/os/file_kind.ts";
import { writeWithUmask } from "#lib/os/new_files.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { isAmong, isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = needsMysql("query");

const OUTPUT = {
  output: p.str(null),
  grain: p.str(null),
  key: p.str(null),
  overwrite: p.bool(true),
};

const OUTPUT_DOC =
  "\n\noutput\n    Where the result goes: `grain`, or the path of a file. Default: the comment.\n\ngrain, key\n    The grain, and the key " +
  "in it.\n\noverwrite\n    Whether the statement is run although grain or file is there.";

const CHECK_DOC =
  "\n\ncheck_db_exists\n    Whether the database is looked for first.\n\nclient_flags\n    A list of capabilities of the connection.";

/** Where the result goes. */
interface Output {
  readonly output: string | null;
  readonly grain: string | null;
  readonly key: string | null;
  readonly overwrite: boolean;
}

async function grainMap(grain: string, context: StateContext): Promise<ValueMap> {
  return new Map(mapOrEmpty(await context.call("grains.get", [grain])));
}

/** The result of a state that runs nothing: in test mode, or because the result is there; `undefined`: it runs. */
async function withoutRun(
  name: string,
  { output, grain, key, overwrite }: Output,
  context: StateContext,
): Promise<StateResult | undefined> {
  if (output === null) {
    return context.test
      ? { ...startResult(name, null), comment: "Query would execute, not storing result" }
      : undefined;
  }
  if (output === "grain" && grain === null) {
    return failState(name, "Error: output type 'grain' needs the grain parameter\n");
  }
  const [kind, place] = output === "grain"
    ? ["Grain", key === null ? `${grain}` : `${grain}:${key}`]
    : ["File", output];
  const isThere = async () => {
    if (kind === "File") return isFile(place);
    const names = listOrEmpty(await context.call("grains.ls"));
    if (grain === null || !isAmong(grain, names)) return false;
    return key === null || (await grainMap(grain, context)).has(key);
  };
  if (!overwrite && await isThere()) {
    return { ...startResult(name), comment: `No execution needed. ${kind} ${place} already set` };
  }
  if (!context.test) return undefined;
  const comment = `Query would execute, storing result in ${kind.toLowerCase()}: ${place}`;
  return { ...startResult(name, null), comment };
}

/** Rows as maps by their columns. */
function rowMaps(columns: Value, rows: Value): ValueMap[] {
  const names = listOrEmpty(columns);
  return listOrEmpty(rows).map((row) => {
    const values = listOrEmpty(row);
    return new Map(names.map((column, i): [Value, Value] => [column, values[i] ?? null]));
  });
}

/** The lines of a file with the result: a column each, or a field each of a result without rows. */
function outputLines(result: ValueMap): string {
  const maps = result.has("results") ? listOrEmpty(result.get("results")).map((one) => mapOrEmpty(one)) : [result];
  return maps.flatMap((one) => [...one].map(([key, value]) => `${str(key)}:${str(value)}\n`)).join("");
}

/** Puts the result where it shall be. */
async function store(
  name: string,
  result: ValueMap,
  { output, grain, key }: Output,
  context: StateContext,
): Promise<StateResult> {
  const done = (where: string) => ({
    ...startResult(name),
    comment: str(result),
    changes: map({ query: `Executed${where}` }),
  });
  if (output === "grain" && grain !== null) {
    const value = key === null ? result : (await grainMap(grain, context)).set(key, result);
    await context.call("grains.setval", [grain, value]);
    return done(`. Output into grain: ${key === null ? grain : `${grain}:${key}`}`);
  }
  if (output === null) return done("");
  writeWithUmask(output, outputLines(result));
  return done(`. Output into ${output}`);
}

/** What a run needs, whatever it runs. */
interface Run extends Output {
  readonly name: string;
  readonly database: string;
  readonly check_db_exists: boolean;
  /** How the database is called if it is not there. */
  readonly shown: string;
  readonly args: ValueMap;
  /** The result of the statements, rows as maps; no map: they failed. */
  readonly execute: () => Promise<Value>;
}

async function runIn(run: Run, context: StateContext): Promise<StateResult> {
  const { name, database, args, check_db_exists, shown, execute } = run;
  if (check_db_exists && !await mysqlSucceeds(context, "db_exists", [database], args)) {
    const comment = `Database ${shown} is not present`;
    return lastFailure(name, context) ?? { ...startResult(name, null), comment };
  }
  const early = await withoutRun(name, run, context);
  if (early !== undefined) return early;
  const result = await execute();
  const failure = lastFailure(name, context);
  if (failure !== undefined) return failure;
  if (!isMap(result)) return failState(name, `The statements in database ${database} could not be run`);
  return await store(name, result, run, context);
}

/** The connection's keywords with the flags; `undefined`: these are no list. */
function flaggedArgs(kwargs: ValueMap, clientFlags: Value): ValueMap | undefined {
  if (clientFlags !== null && !Array.isArray(clientFlags)) return undefined;
  return new Map([...connectionArgs(kwargs), ["client_flags", clientFlags ?? []]]);
}

const NO_LIST = "Error: client_flags must be a list.";

export const run: ModuleFunction<StateContext> = stateFn({
  doc:
    `Run a statement in a database.\n\nname\n    Has no effect.\n\ndatabase\n    The database.\n\nquery\n    The statement.${OUTPUT_DOC}` +
    `${CHECK_DOC}${CONNECTION_DOC}`,
  ...MYSQL_KEYWORDS,
  params: {
    name: p.str(),
    database: p.str(),
    query: p.str(),
    ...OUTPUT,
    check_db_exists: p.bool(true),
    client_flags: p.any(null),
  },
  async run({ query, client_flags, ...given }, context, { kwargs }) {
    const args = flaggedArgs(kwargs, client_flags);
    if (args === undefined) return failState(given.name, NO_LIST);
    const execute = async () => {
      const result = await context.call("mysql.query", [given.database, query], args);
      if (!isMap(result) || !result.has("results")) return result;
      return new Map([...result, ["results", rowMaps(result.get("columns") ?? null, result.get("results") ?? null)]]);
    };
    return await runIn({ ...given, shown: given.name, args, execute }, context);
  },
});

export const run_file: ModuleFunction<StateContext> = stateFn({
  doc:
    `Run the statements of a file in a database.\n\nname\n    Has no effect.\n\ndatabase\n    The database.\n\nquery_file\n    The file, of this ` +
    `host or of the file server.${OUTPUT_DOC}\n\nsaltenv\n    The environment of the file server.${CHECK_DOC}${CONNECTION_DOC}`,
  ...MYSQL_KEYWORDS,
  params: {
    name: p.str(),
    database: p.str(),
    query_file: p.str(),
    ...OUTPUT,
    saltenv: p.str(null),
    check_db_exists: p.bool(true),
    client_flags: p.any(null),
  },
  async run({ query_file, saltenv: _, client_flags, ...given }, context, { kwargs }) {
    const args = flaggedArgs(kwargs, client_flags);
    if (args === undefined) return failState(given.name, NO_LIST);
    const isRemote = /^(?:salt|https?|swift|s3):\/\//.test(query_file);
    const path = isRemote
      ? str(await context.call("cp.cache_file", [query_file], map({ saltenv: saltenvOf(context) })))
      : query_file;
    if (!exists(path)) return failState(given.name, `File ${path} does not exist`);
    const execute = async () => {
      const result = await context.call("mysql.file_query", [given.database, path], args);
      if (!isMap(result) || !result.has("results")) return result;
      const columns = listOrEmpty(result.get("columns"));
      const rows = listOrEmpty(result.get("results")).flatMap((one, i) => rowMaps(columns[i], one));
      return new Map([...result, ["results", rows]]);
    };
    return await runIn({ ...given, shown: given.database, args, execute }, context);
  },
});
