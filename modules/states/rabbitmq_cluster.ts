/**
 * State module `rabbitmq_cluster`: the cluster that a node of RabbitMQ belongs to.
 * Source: Salt 3008.3 `salt/states/rabbitmq_cluster.py`.
 * @module
 */

import { answerText, NEEDS_RABBITMQ, rabbitmq, reach } from "./_rabbitmq.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { str } from "#lib/values/value.ts";

export const virtual: Virtual = NEEDS_RABBITMQ;

export const joined: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that this node is a member of the cluster of `user@host`.\n\nname\n    A name for the state.\n\nhost, user\n    The other node.\n\n" +
    "ram_node\n    Whether this node keeps its data in memory.\n\nrunas\n    The user who runs rabbitmqctl.",
  params: { name: p.str(), host: p.str(), user: p.str("rabbit"), ram_node: p.any(null), runas: p.str("root") },
  run: async ({ name, host, user, ram_node, runas }, context) =>
    await reach({
      name,
      isDone: str(await rabbitmq("cluster_status", [], null, context)).includes(`${user}@${host}`),
      done: "Already in cluster",
      planned: `Node is set to join cluster ${user}@${host}`,
      changes: { old: "", new: `${user}@${host}` },
      act: async () => answerText(await rabbitmq("join_cluster", [host, user, ram_node], runas, context), "Join"),
    }, context),
});

export const join: ModuleFunction<StateContext> = { ...joined, doc: `The same as \`joined\`. ${joined.doc}` };
