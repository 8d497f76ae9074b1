/**
 * The functions of `rabbitmq` for the node, its cluster, its virtual hosts, queues and plugins.
 * Source: Salt 3008.3 `salt/modules/rabbitmq.py`.
 * @module
 */

import { checkedOutput, control, dataWords, ofVirtualHost, operands, plugins, rowsByName, RUNAS } from "./running.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** A function that returns what a command of rabbitmqctl without arguments prints. */
function printing(command: string, text: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(text, `rabbitmq.${command}`),
    permissions: "all",
    params: RUNAS,
    run: async ({ runas }, context) => checkedOutput(await control([command], runas, context)),
  });
}

export const status: ModuleFunction<JobContext> = printing("status", "Return the status of the node.");
export const cluster_status: ModuleFunction<JobContext> = printing(
  "cluster_status",
  "Return the status of the cluster.",
);
export const stop_app: ModuleFunction<JobContext> = printing(
  "stop_app",
  "Stop RabbitMQ, and leave the Erlang node running.",
);
export const start_app: ModuleFunction<JobContext> = printing("start_app", "Start RabbitMQ.");
export const reset: ModuleFunction<JobContext> = printing("reset", "Return the node to its first state.");
export const force_reset: ModuleFunction<JobContext> = printing(
  "force_reset",
  "Return the node to its first state, whatever its cluster says.",
);

export const join_cluster: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make the node a member of the cluster of another host; with ram_node as a node that keeps its data in memory.",
    "rabbitmq.join_cluster rabbit.example.com rabbit",
  ),
  permissions: "all",
  params: { host: p.str(), user: p.str("rabbit"), ram_node: p.any(null), ...RUNAS },
  async run({ host, user, ram_node, runas }, context) {
    const words = ["join_cluster", ...truthy(ram_node) ? ["--ram"] : [], ...operands(`${user}@${host}`)];
    checkedOutput(await control(["stop_app"], runas, context));
    const result = await control(words, runas, context);
    checkedOutput(await control(["start_app"], runas, context));
    return { Join: checkedOutput(result) };
  },
});

async function virtualHosts(runas: string | null, context: JobContext): Promise<string[]> {
  return dataWords(checkedOutput(await control(["list_vhosts", "-q"], runas, context)), ["name"]);
}

export const list_vhosts: ModuleFunction<JobContext> = fn({
  doc: describe("Return the virtual hosts.", "rabbitmq.list_vhosts"),
  permissions: "all",
  params: RUNAS,
  run: ({ runas }, context) => virtualHosts(runas, context),
});

export const vhost_exists: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a virtual host exists.", "rabbitmq.vhost_exists rabbit_host"),
  permissions: "all",
  params: { name: p.str(), ...RUNAS },
  run: async ({ name, runas }, context) => (await virtualHosts(runas, context)).includes(name),
});

export const add_vhost: ModuleFunction<JobContext> = fn({
  doc: describe("Add a virtual host.", "rabbitmq.add_vhost '<vhost_name>'"),
  permissions: "all",
  params: { vhost: p.str(), ...RUNAS },
  run: async ({ vhost, runas }, context) => ({
    Added: checkedOutput(await control(["add_vhost", ...operands(vhost)], runas, context)),
  }),
});

export const delete_vhost: ModuleFunction<JobContext> = fn({
  doc: describe("Delete a virtual host.", "rabbitmq.delete_vhost '<vhost_name>'"),
  permissions: "all",
  params: { vhost: p.str(), ...RUNAS },
  run: async ({ vhost, runas }, context) => ({
    Deleted: checkedOutput(await control(["delete_vhost", ...operands(vhost)], runas, context)),
  }),
});

/** The queues by the first of the columns. Without columns rabbitmqctl prints names and numbers of messages. */
async function queues(
  vhost: readonly string[],
  args: readonly Value[],
  runas: string | null,
  context: JobContext,
): Promise<ValueMap> {
  const columns = args.map(str);
  const words = ["list_queues", "-q", ...vhost, ...operands(...columns)];
  const titles = columns.length > 0 ? columns : ["name", "messages"];
  return rowsByName(checkedOutput(await control(words, runas, context)), titles);
}

export const list_queues: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the queues of the virtual host `/`, with these columns.",
    "rabbitmq.list_queues messages consumers",
  ),
  permissions: "all",
  params: RUNAS,
  varArgs: "args",
  run: ({ runas }, context, { args }) => queues([], args, runas, context),
});

export const list_queues_vhost: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the queues of a virtual host, with these columns.",
    "rabbitmq.list_queues_vhost myvhost root messages",
  ),
  permissions: "all",
  params: { vhost: p.str(), ...RUNAS },
  varArgs: "args",
  run: ({ vhost, runas }, context, { args }) => queues(ofVirtualHost(vhost), args, runas, context),
});

export const list_available_plugins: ModuleFunction<JobContext> = fn({
  doc: describe("Return the names of all plugins.", "rabbitmq.list_available_plugins"),
  permissions: "all",
  params: RUNAS,
  run: async ({ runas }, context) => dataWords(checkedOutput(await plugins(["list", "-m"], runas, context))),
});

async function enabledPlugins(runas: string | null, context: JobContext): Promise<string[]> {
  return dataWords(checkedOutput(await plugins(["list", "-m", "-e"], runas, context)));
}

export const list_enabled_plugins: ModuleFunction<JobContext> = fn({
  doc: describe("Return the names of the enabled plugins.", "rabbitmq.list_enabled_plugins"),
  permissions: "all",
  params: RUNAS,
  run: ({ runas }, context) => enabledPlugins(runas, context),
});

export const plugin_is_enabled: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a plugin is enabled.", "rabbitmq.plugin_is_enabled rabbitmq_plugin_name"),
  permissions: "all",
  params: { name: p.str(), ...RUNAS },
  run: async ({ name, runas }, context) => (await enabledPlugins(runas, context)).includes(name),
});

export const enable_plugin: ModuleFunction<JobContext> = fn({
  doc: describe("Enable a plugin.", "rabbitmq.enable_plugin foo"),
  permissions: "all",
  params: { name: p.str(), ...RUNAS },
  run: async ({ name, runas }, context) => ({
    Enabled: checkedOutput(await plugins(["enable", ...operands(name)], runas, context)),
  }),
});

export const disable_plugin: ModuleFunction<JobContext> = fn({
  doc: describe("Disable a plugin.", "rabbitmq.disable_plugin foo"),
  permissions: "all",
  params: { name: p.str(), ...RUNAS },
  run: async ({ name, runas }, context) => ({
    Disabled: checkedOutput(await plugins(["disable", ...operands(name)], runas, context)),
  }),
});
