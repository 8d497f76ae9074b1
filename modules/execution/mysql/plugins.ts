/**
 * Execution module `mysql`: plugins of the server.
 * Source: the functions of Salt 3008.3 `salt/modules/mysql.py`.
 * @module
 */

import { quoteName } from "#lib/host/mysql/quoting.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { map, type Value } from "#lib/values/value.ts";
import { CONNECTED, withMysql } from "./connection.ts";
import { pluginStatus } from "./lookups.ts";

export const plugins_list: ModuleFunction<JobContext> = fn({
  doc: describe("Return the plugins with their status.", "mysql.plugins_list"),
  ...CONNECTED,
  params: {},
  run: (_, context, { kwargs }) =>
    withMysql<Value>(kwargs, context, { connection: [] }, async (client) => {
      const { rows } = await client.run(() => "SHOW PLUGINS");
      return rows.map(([name, status]) => map({ name, status }));
    }),
});

export const plugin_status: ModuleFunction<JobContext> = fn({
  doc: describe("Return the status of a plugin; empty: it is not installed.", "mysql.plugin_status auth_socket"),
  ...CONNECTED,
  params: { name: p.str() },
  run: ({ name }, context, { kwargs }) =>
    withMysql<Value>(kwargs, context, { connection: "" }, (client) => pluginStatus(client, name)),
});

export const plugin_add: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Install a plugin from the library soname, by default its name with .so. Return whether it is installed.",
    "mysql.plugin_add auth_socket",
  ),
  ...CONNECTED,
  params: { name: p.str(), soname: p.str(null) },
  run: ({ name, soname }, context, { kwargs }) =>
    withMysql(kwargs, context, { connection: false }, async (client) => {
      if (await pluginStatus(client, name) !== "") return true;
      await client.run((quote) => `INSTALL PLUGIN ${quoteName(name)} SONAME ${quote(soname || `${name}.so`)}`);
      return true;
    }),
});

export const plugin_remove: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a plugin. Return whether it is not installed.", "mysql.plugin_remove auth_socket"),
  ...CONNECTED,
  params: { name: p.str() },
  run: ({ name }, context, { kwargs }) =>
    withMysql(kwargs, context, { connection: false }, async (client) => {
      if (await pluginStatus(client, name) === "") return true;
      await client.run(() => `UNINSTALL PLUGIN ${quoteName(name)}`);
      return true;
    }),
});
