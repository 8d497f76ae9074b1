/**
 * State module `postgres_schema`: schemas of PostgreSQL's databases.
 * Source: Salt 3008.3 `salt/states/postgres_schema.py`.
 * @module
 */

import { needsPostgres, succeeds } from "./_postgres.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { map } from "#lib/values/value.ts";

export const virtual: Virtual = needsPostgres("schema_exists");

const CONNECTION = {
  user: p.str(null),
  db_user: p.str(null),
  db_password: p.str(null),
  db_host: p.str(null),
  db_port: p.str(null),
};

const DOC =
  "\n\ndbname\n    The database.\n\nname\n    The schema.\n\nuser\n    The user of this host who runs psql.\n\ndb_user, db_password, db_host, " +
  "db_port\n    Where and as whom psql connects.";

/** A result of these states also names the database. */
function inDatabase(dbname: string, result: StateResult): StateResult & { readonly dbname: string } {
  return { ...result, dbname };
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a database has a schema.${DOC}\n\nowner\n    Of a new one.`,
  params: { dbname: p.str(), name: p.str(), owner: p.str(null), ...CONNECTION },
  async run({ dbname, name, owner, ...connection }, context) {
    const args = map(connection);
    const place = `${name} in database ${dbname}`;
    if (await context.call("postgres.schema_get", [dbname, name], args) !== null) {
      return inDatabase(dbname, {
        ...startResult(name),
        comment: `Schema ${name} already exists in database ${dbname}`,
      });
    }
    if (context.test) {
      const comment = `Schema ${name} is set to be created in database ${dbname}.`;
      return inDatabase(dbname, { ...startResult(name, null), comment });
    }
    if (!await succeeds(context, "schema_create", [dbname, name], new Map([...map({ owner }), ...args]))) {
      return inDatabase(dbname, failState(name, `Failed to create schema ${place}`));
    }
    const comment = `Schema ${name} has been created in database ${dbname}`;
    return inDatabase(dbname, { ...startResult(name), comment, changes: map({ [name]: "Present" }) });
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a database has no such schema.${DOC}`,
  params: { dbname: p.str(), name: p.str(), ...CONNECTION },
  async run({ dbname, name, ...connection }, context) {
    const args = map(connection);
    const report = (result: boolean | null, comment: string) =>
      inDatabase(dbname, { ...startResult(name, result), comment });
    if (!await succeeds(context, "schema_exists", [dbname, name], args)) {
      return report(true, `Schema ${name} is not present in database ${dbname}, so it cannot be removed`);
    }
    if (context.test) return report(null, `Schema ${name} is set to be removed from database ${dbname}`);
    if (!await succeeds(context, "schema_remove", [dbname, name], args)) {
      return report(false, `Schema ${name} failed to be removed`);
    }
    return {
      ...report(true, `Schema ${name} has been removed from database ${dbname}`),
      changes: map({ [name]: "Absent" }),
    };
  },
});
