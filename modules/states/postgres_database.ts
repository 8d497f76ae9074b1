/**
 * State module `postgres_database`: databases of PostgreSQL.
 * Source: Salt 3008.3 `salt/states/postgres_database.py`.
 * @module
 */

import { DB_ARGS, DB_DOC, dbArgs, needsPostgres, removeObject, succeeds } from "./_postgres.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { isMap, map, str } from "#lib/values/value.ts";

export const virtual: Virtual = needsPostgres("user_exists");

export const present: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that a database exists.\n\nname\n    The database.\n\ntablespace, owner\n    Are changed if they differ.\n\nencoding, " +
    "lc_collate, lc_ctype\n    Cannot be changed: the state fails if they differ.\n\nowner_recurse\n    Whether all its objects get the owner " +
    `too.\n\ntemplate\n    The template of a new database.${DB_DOC}`,
  params: {
    name: p.str(),
    tablespace: p.str(null),
    encoding: p.str(null),
    lc_collate: p.str(null),
    lc_ctype: p.str(null),
    owner: p.str(null),
    owner_recurse: p.bool(false),
    template: p.str(null),
    ...DB_ARGS,
  },
  async run(given, context) {
    const { name, tablespace, encoding, lc_collate, lc_ctype, owner, owner_recurse, template } = given;
    const args = dbArgs(given);
    const databases = await context.call("postgres.db_list", [], args);
    const database = isMap(databases) ? databases.get(name) : undefined;
    const differs = (column: string, wanted: string | null, fold = (one: string) => one) =>
      !!wanted && isMap(database) && fold(str(database.get(column) ?? "")) !== fold(wanted);
    const isFixed = differs("Encoding", encoding, (one) => one.toLowerCase()) || differs("Collate", lc_collate) ||
      differs("Ctype", lc_ctype);
    if (isFixed) return failState(name, `Database ${name} has wrong parameters which couldn't be changed on fly.`);
    const isThere = isMap(database);
    if (isThere && !differs("Tablespace", tablespace) && !differs("Owner", owner)) {
      return { ...startResult(name), comment: `Database ${name} is already present` };
    }
    if (context.test) {
      const what = isThere ? "exists, but parameters need to be changed" : "is set to be created";
      return { ...startResult(name, null), comment: `Database ${name} ${what}` };
    }
    const done = isThere
      ? await succeeds(context, "db_alter", [name], new Map([...map({ tablespace, owner, owner_recurse }), ...args]))
      : await succeeds(
        context,
        "db_create",
        [name],
        new Map([...map({ tablespace, encoding, lc_collate, lc_ctype, owner, template }), ...args]),
      );
    if (!done) {
      return failState(
        name,
        isThere ? `Failed to change parameters for database ${name}` : `Failed to create database ${name}`,
      );
    }
    const comment = isThere
      ? `Parameters for database ${name} have been changed`
      : `The database ${name} has been created`;
    return { ...startResult(name), comment, changes: map({ [name]: isThere ? "Parameters changed" : "Present" }) };
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a database does not exist.\n\nname\n    The database.${DB_DOC}`,
  params: { name: p.str(), ...DB_ARGS },
  run({ name, ...given }, context) {
    const args = dbArgs(given);
    return removeObject({
      name,
      what: `Database ${name}`,
      exists: () => succeeds(context, "db_exists", [name], args),
      remove: () => succeeds(context, "db_remove", [name], args),
    }, context);
  },
});
