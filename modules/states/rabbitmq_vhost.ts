/**
 * State module `rabbitmq_vhost`: virtual hosts of RabbitMQ.
 * Source: Salt 3008.3 `salt/states/rabbitmq_vhost.py`.
 * @module
 */

import { answerText, NEEDS_RABBITMQ, rabbitmq, reach } from "./_rabbitmq.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { truthy } from "#lib/values/value.ts";

export const virtual: Virtual = NEEDS_RABBITMQ;

export const present: ModuleFunction<StateContext> = stateFn({
  doc: "Make sure that a virtual host exists.\n\nname\n    The virtual host.",
  params: { name: p.str() },
  run: async ({ name }, context) =>
    await reach({
      name,
      isDone: truthy(await rabbitmq("vhost_exists", [name], null, context)),
      done: `Virtual Host '${name}' already exists.`,
      planned: `Virtual Host '${name}' will be created.`,
      changes: { old: "", new: name },
      act: async () => answerText(await rabbitmq("add_vhost", [name], null, context), "Added"),
    }, context),
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: "Make sure that a virtual host does not exist.\n\nname\n    The virtual host.",
  params: { name: p.str() },
  run: async ({ name }, context) =>
    await reach({
      name,
      isDone: !truthy(await rabbitmq("vhost_exists", [name], null, context)),
      done: `Virtual Host '${name}' is not present.`,
      planned: `Virtual Host '${name}' will be removed.`,
      changes: { new: "", old: name },
      act: async () => answerText(await rabbitmq("delete_vhost", [name], null, context), "Deleted"),
    }, context),
});
