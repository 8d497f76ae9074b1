/**
 * State module `postgres_language`: languages of PostgreSQL's databases.
 * Source: Salt 3008.3 `salt/states/postgres_language.py`.
 * @module
 */

import { dbArgs, needsPostgres, succeeds } from "./_postgres.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { isMap, map } from "#lib/values/value.ts";

export const virtual: Virtual = needsPostgres("language_create");

const LANGUAGE = {
  name: p.str(),
  maintenance_db: p.str(),
  user: p.str(null),
  db_password: p.str(null),
  db_host: p.str(null),
  db_port: p.str(null),
  db_user: p.str(null),
};

const DOC =
  "\n\nname\n    The language.\n\nmaintenance_db\n    The database.\n\nuser\n    The user of this host who runs psql.\n\ndb_user, db_password, " +
  "db_host, db_port\n    Where and as whom psql connects.";

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a language is installed in a database.${DOC}`,
  params: LANGUAGE,
  async run({ name, maintenance_db, ...connection }, context) {
    const args = dbArgs(connection);
    const languages = await context.call("postgres.language_list", [maintenance_db], args);
    if (isMap(languages) && languages.has(name)) {
      return { ...startResult(name), comment: `Language ${name} is already installed` };
    }
    if (context.test) return { ...startResult(name, null), comment: `Language ${name} is set to be installed` };
    if (!await succeeds(context, "language_create", [name, maintenance_db], args)) {
      return failState(name, `Failed to install language ${name}`);
    }
    return {
      ...startResult(name),
      comment: `Language ${name} has been installed`,
      changes: map({ [name]: "Present" }),
    };
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a language is not installed in a database.${DOC}`,
  params: LANGUAGE,
  async run({ name, maintenance_db, ...connection }, context) {
    const args = dbArgs(connection);
    if (!await succeeds(context, "language_exists", [name, maintenance_db], args)) {
      return { ...startResult(name), comment: `Language ${name} is not present so it cannot be removed` };
    }
    if (context.test) return { ...startResult(name, null), comment: `Language ${name} is set to be removed` };
    if (!await succeeds(context, "language_remove", [name, maintenance_db], args)) {
      return failState(name, `Failed to remove language ${name}`);
    }
    return { ...startResult(name), comment: `Language ${name} has been removed`, changes: map({ [name]: "Absent" }) };
  },
});
