/**
 * Execution module `mysql`: statements of the operator's own.
 * Source: the functions of Salt 3008.3 `salt/modules/mysql.py` (`query`, `file_query`, `quote_identifier`).
 * @module
 */

import { scriptStatements } from "#lib/host/mysql/script.ts";
import { quoteName } from "#lib/host/mysql/quoting.ts";
import type { MysqlClient } from "#lib/host/mysql/client.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { floatRepr, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { Tuple } from "#lib/values/tuple.ts";
import { CONNECTED, withMysql } from "./connection.ts";

/** What a statement gave, in Salt's form without its time. */
interface Answer {
  readonly result: ValueMap;
  readonly seconds: number;
}

/** Statements whose rows are the result, not their number. */
const READING = ["SELECT", "SHOW", "DESC"];

async function runQuery(client: MysqlClient, query: string): Promise<Answer> {
  const start = performance.now();
  const { columns, rows, affected } = await client.run(() => query, true);
  const seconds = (performance.now() - start) / 1000;
  const word = query.trim().toUpperCase();
  const result = READING.some((one) => word.startsWith(one))
    ? { "rows returned": affected, columns: new Tuple(columns), results: new Tuple(rows.map((row) => new Tuple(row))) }
    : { "rows affected": affected };
  return { result: map(result), seconds };
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

function withTime({ result, seconds }: Answer): ValueMap {
  const human = seconds < 0.2 ? `${floatRepr(rounded(seconds * 1000, 1))}ms` : `${floatRepr(rounded(seconds, 2))}s`;
  return new Map<Value, Value>([
    ["query time", map({ human, raw: floatRepr(rounded(seconds, 5)) })],
    ...result,
  ]);
}

/** The keywords with the database; several statements may be one text, as with Salt's client. */
function inDatabase(kwargs: ValueMap, database: string): ValueMap {
  const flags = kwargs.get("client_flags");
  return new Map([
    ...kwargs,
    ["connection_db", database],
    ["client_flags", [...Array.isArray(flags) ? flags : [], "multi_statements"]],
  ]);
}

export const query: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Run a statement in a database. Return its rows with their columns, or the number of changed rows; False if the server refuses it.",
    'mysql.query mydb "UPDATE mytable set myfield=1 limit 1"',
    'mysql.query mydb "SELECT id,name,cash from users limit 3"',
  ),
  ...CONNECTED,
  params: { database: p.str(), query: p.str() },
  run: ({ database, query: statement }, context, { kwargs }) =>
    withMysql<Value>(
      inDatabase(kwargs, database),
      context,
      { connection: new Map(), statement: false },
      async (client) => withTime(await runQuery(client, statement)),
    ),
});

export const file_query: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Run the statements of a file of this host or of the file server in a database. Return what they gave together, or False.",
    "mysql.file_query mydb file_name=/tmp/sqlfile.sql",
    "mysql.file_query mydb file_name=salt://sqlfile.sql",
  ),
  ...CONNECTED,
  params: { database: p.str(), file_name: p.str() },
  async run({ database, file_name }, context, { kwargs }) {
    const isRemote = /^(?:salt|https?|swift|s3):\/\//.test(file_name);
    const path = isRemote ? str(await context.call("cp.cache_file", [file_name])) : file_name;
    if (!isFile(path)) {
      context.log("error", `File "${path}" does not exist`);
      return false;
    }
    const statements = scriptStatements(Deno.readTextFileSync(path));
    return await withMysql<Value>(
      inDatabase(kwargs, database),
      context,
      { connection: new Map(), statement: false },
      async (client) => {
        const answers: Answer[] = [];
        for (const statement of statements) answers.push(await runQuery(client, statement));
        return together(answers);
      },
    );
  },
});

/** The results of all statements: numbers are added, rows are listed; what is empty is left out. */
function together(answers: readonly Answer[]): ValueMap {
  const sum = (key: string) => answers.reduce((all, { result }) => all + Number(result.get(key) ?? 0), 0);
  const list = (key: string) => answers.flatMap(({ result }) => result.has(key) ? [result.get(key) ?? null] : []);
  const seconds = answers.reduce((all, one) => all + one.seconds, 0);
  const parts: readonly (readonly [string, Value, boolean])[] = [
    ["rows returned", sum("rows returned"), sum("rows returned") > 0],
    ["columns", list("columns"), list("columns").length > 0],
    ["results", list("results"), list("results").length > 0],
    ["rows affected", sum("rows affected"), sum("rows affected") > 0],
  ];
  const time = map({ raw: rounded(seconds, 5), human: `${floatRepr(rounded(seconds, 2))}s` });
  const shown = parts.flatMap(([key, value, isThere]): [Value, Value][] => isThere ? [[key, value]] : []);
  return new Map<Value, Value>([...shown, ["query time", time]]);
}

export const quote_identifier: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a name in the quotes of MySQL, with its per cent signs doubled. for_grants=True: as the database of a grant.",
    "mysql.quote_identifier 'foo`bar'",
  ),
  params: { identifier: p.str(), for_grants: p.bool(false) },
  run: ({ identifier, for_grants }) => quoteName(identifier, for_grants).replaceAll("%", "%%"),
});
