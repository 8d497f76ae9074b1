/**
 * State module `mysql_database`: databases of MySQL and MariaDB.
 * Source: Salt 3006.28 `salt/states/mysql_database.py`, which Salt 3008 has no longer.
 * @module
 */

import {
  CONNECTION_DOC,
  connectionArgs,
  errorSuffix,
  lastFailure,
  MYSQL_KEYWORDS,
  mysqlSucceeds,
  needsMysql,
} from "./_mysql.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = needsMysql("db_exists");

/** What a database shall have. */
interface Wanted {
  readonly name: string;
  readonly character_set: string | null;
  readonly collate: string | null;
}

/** Changes a database that differs. */
async function alter(
  { name, character_set, collate }: Wanted,
  existing: ValueMap,
  args: ValueMap,
  context: StateContext,
): Promise<StateResult> {
  const { test } = context;
  const known = (key: string) => str(existing.get(key) ?? null);
  const result = { ...startResult(name), comment: `Database ${name} is already present` };
  const hasOtherSet = !!character_set && character_set !== known("character_set");
  if (hasOtherSet) {
    result.comment = `Database character set ${character_set} != ${known("character_set")} needs to be updated`;
  }
  const hasOtherCollation = !!collate && collate !== known("collate");
  if (hasOtherCollation) result.comment += `\nDatabase collate ${collate} != ${known("collate")} needs to be updated`;
  if (!hasOtherSet && !hasOtherCollation) return result;
  if (test) {
    const comment = hasOtherCollation ? result.comment : `${result.comment}\nDatabase ${name} is going to be updated`;
    return { ...result, result: null, comment };
  }
  if (!await mysqlSucceeds(context, "alter_db", [name], new Map([...map({ character_set, collate }), ...args]))) {
    return failState(name, `Failed to update database ${name}${errorSuffix(context)}`);
  }
  const current = mapOrEmpty(await context.call("mysql.db_get", [name], args));
  for (const key of ["collate", "character_set"]) {
    const [before, now] = [existing.get(key) ?? null, current.get(key) ?? null];
    if (before !== now) result.changes.set(key, map({ before, now }));
  }
  return result;
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that a database exists.\n\nname\n    The database.\n\ncharacter_set, collate\n    Are changed if they " +
    `differ.${CONNECTION_DOC}`,
  ...MYSQL_KEYWORDS,
  params: { name: p.str(), character_set: p.str(null), collate: p.str(null) },
  async run(wanted, context, { kwargs }) {
    const { name, character_set, collate } = wanted;
    const args = connectionArgs(kwargs);
    const existing = mapOrEmpty(await context.call("mysql.db_get", [name], args));
    if (existing.size > 0) return await alter(wanted, existing, args, context);
    const failure = lastFailure(name, context);
    if (failure !== undefined) return failure;
    if (context.test) {
      return { ...startResult(name, null), comment: `Database ${name} is not present and needs to be created` };
    }
    if (!await mysqlSucceeds(context, "db_create", [name], new Map([...map({ character_set, collate }), ...args]))) {
      return failState(name, `Failed to create database ${name}${errorSuffix(context)}`);
    }
    const comment = `The database ${name} has been created`;
    return { ...startResult(name), comment, changes: map({ [name]: "Present" }) };
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a database does not exist.\n\nname\n    The database.${CONNECTION_DOC}`,
  ...MYSQL_KEYWORDS,
  params: { name: p.str() },
  async run({ name }, context, { kwargs }) {
    const args = connectionArgs(kwargs);
    if (!await mysqlSucceeds(context, "db_exists", [name], args)) {
      const comment = `Database ${name} is not present, so it cannot be removed`;
      return lastFailure(name, context) ?? { ...startResult(name), comment };
    }
    if (context.test) {
      return { ...startResult(name, null), comment: `Database ${name} is present and needs to be removed` };
    }
    if (!await mysqlSucceeds(context, "db_remove", [name], args)) {
      return failState(name, `Unable to remove database ${name}${errorSuffix(context)}`);
    }
    return { ...startResult(name), comment: `Database ${name} has been removed`, changes: map({ [name]: "Absent" }) };
  },
});
