/**
 * State module `postgres_initdb`: the directories of PostgreSQL's database clusters.
 * Source: Salt 3008.3 `salt/states/postgres_initdb.py`.
 * @module
 */

import { needsPostgres, succeeds } from "./_postgres.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { map } from "#lib/values/value.ts";

export const virtual: Virtual = needsPostgres("datadir_init");

export const present: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that a directory holds a database cluster.\n\nname\n    The directory.\n\nuser\n    The superuser of the databases.\n\npassword\n" +
    "    That user's password.\n\nauth\n    The authentication method of local connections. Default: password.\n\nencoding, locale\n    Of new databases.\n\n" +
    "runas\n    The user of this host who runs the server.\n\nwaldir\n    The directory of the write-ahead log.\n\nchecksums\n    Whether pages have checksums.",
  params: {
    name: p.str(),
    user: p.str(null),
    password: p.str(null),
    auth: p.str("password"),
    encoding: p.str("UTF8"),
    locale: p.any(null),
    runas: p.str(null),
    waldir: p.str(null),
    checksums: p.bool(false),
  },
  async run({ name, ...options }, context) {
    const what = `Postgres data directory ${name}`;
    if (await succeeds(context, "datadir_exists", [name], new Map())) {
      return { ...startResult(name), comment: `${what} is already present` };
    }
    if (context.test) return { ...startResult(name, null), comment: `${what} is set to be initialized` };
    if (!await succeeds(context, "datadir_init", [name], map(options))) {
      return failState(name, `${what} initialization failed`);
    }
    return { ...startResult(name), comment: `${what} has been initialized`, changes: map({ [name]: "Present" }) };
  },
});
