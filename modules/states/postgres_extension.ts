/**
 * State module `postgres_extension`: extensions of PostgreSQL's databases.
 * Source: Salt 3008.3 `salt/states/postgres_extension.py`.
 * @module
 */

import { DB_DOC, DB_USER_FIRST, dbArgs, needsPostgres, removeObject, succeeds } from "./_postgres.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { map } from "#lib/values/value.ts";

export const virtual: Virtual = needsPostgres("create_extension");

export const present: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that an extension is installed.\n\nname\n    The extension.\n\nif_not_exists\n    Whether the command has IF NOT EXISTS. Default: True.\n\n" +
    "schema\n    The schema in which it is to be.\n\next_version\n    The minimum version.\n\nfrom_version\n    The version to " +
    `update from.${DB_DOC}`,
  params: {
    name: p.str(),
    if_not_exists: p.any(null),
    schema: p.str(null),
    ext_version: p.str(null),
    from_version: p.str(null),
    ...DB_USER_FIRST,
  },
  async run({ name, if_not_exists, schema, ext_version, from_version, ...connection }, context) {
    const args = dbArgs(connection);
    const metadata = await context.call(
      "postgres.create_metadata",
      [name],
      new Map([...map({ schema, ext_version }), ...args]),
    );
    const flags = listOrEmpty(metadata);
    const isMissing = flags.includes("EXTENSION NOT INSTALLED");
    const differs = flags.includes("EXTENSION TO MOVE") || flags.includes("EXTENSION TO UPGRADE");
    if (!isMissing && !differs) return { ...startResult(name), comment: `Extension ${name} is already present` };
    const mode = isMissing ? "install" : "upgrade";
    const done = isMissing ? "installed" : "upgraded";
    if (context.test) return { ...startResult(name, null), comment: `Extension ${name} is set to be ${done}` };
    const options = map({ name, if_not_exists, schema, ext_version, from_version });
    if (!await succeeds(context, "create_extension", [], new Map([...options, ...args]))) {
      return failState(name, `Failed to ${mode} extension ${name}`);
    }
    const changes = map({ [name]: isMissing ? "Installed" : "Upgraded" });
    return { ...startResult(name), comment: `The extension ${name} has been ${done}`, changes };
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that an extension is not installed.\n\nname\n    The extension.\n\nif_exists, restrict, cascade\n    Parts of the command. " +
    `Default: cascade, dependent objects are removed too.${DB_DOC}`,
  params: { name: p.str(), if_exists: p.any(null), restrict: p.any(null), cascade: p.any(null), ...DB_USER_FIRST },
  run({ name, if_exists, restrict, cascade, ...connection }, context) {
    const args = dbArgs(connection);
    return removeObject({
      name,
      what: `Extension ${name}`,
      exists: () => succeeds(context, "is_installed_extension", [name], args),
      remove: () =>
        succeeds(context, "drop_extension", [name], new Map([...map({ if_exists, restrict, cascade }), ...args])),
    }, context);
  },
});
