/**
 * State module `rabbitmq_policy`: policies of RabbitMQ.
 * Source: Salt 3008.3 `salt/states/rabbitmq_policy.py`.
 * @module
 */

import { answerText, NEEDS_RABBITMQ, rabbitmq, reach } from "./_rabbitmq.ts";
import { keywords } from "./_execution.ts";
import { InvocationError, JsonError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { equals, isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = NEEDS_RABBITMQ;

/** A definition as the map that it says. */
function definitionOf(given: Value): Value {
  if (isMap(given)) return given;
  try {
    return truthy(given) ? parseJson(str(given)) : "";
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new InvocationError(`The definition of the policy is no JSON: ${error.message}`);
  }
}

/** What of a policy differs, in Salt's words. */
function differences(policy: ValueMap, wanted: Readonly<Record<string, Value>>): string[] {
  const { pattern, definition, apply_to, priority } = wanted;
  return [
    ...policy.get("pattern") === pattern ? [] : ["Pattern"],
    ...equals(definitionOf(policy.get("definition") ?? ""), definitionOf(definition)) ? [] : ["Definition"],
    ...!truthy(apply_to) || policy.get("apply_to") === apply_to ? [] : ["Applyto"],
    ...Number(policy.get("priority")) === Number(priority) ? [] : ["Priority"],
  ];
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that a policy exists.\n\nname\n    The policy.\n\npattern\n    The pattern of the names that it is for.\n\ndefinition\n    Its " +
    "definition, as a map or as JSON.\n\npriority\n    Its priority.\n\nvhost\n    The virtual host.\n\nrunas\n    The user who runs " +
    "rabbitmqctl.\n\napply_to\n    `queues`, `exchanges` or `all`.",
  params: {
    name: p.str(),
    pattern: p.str(),
    definition: p.any(),
    priority: p.any(0),
    vhost: p.str("/"),
    runas: p.str(null),
    apply_to: p.str(null),
  },
  async run(given, context): Promise<StateResult> {
    const { name, pattern, definition, priority, vhost, runas, apply_to } = given;
    const policies = await context.call("rabbitmq.list_policies", [], keywords({ vhost, runas }));
    const policy = mapOrEmpty(mapOrEmpty(mapOrEmpty(policies).get(vhost)).get(name));
    const isNew = policy.size === 0;
    const updates = isNew ? [] : differences(policy, { pattern, definition, apply_to, priority });
    if (!isNew && updates.length === 0) {
      return { ...startResult(name), comment: `Policy ${vhost} ${name} is already present` };
    }
    const changes = isNew ? map({ old: {}, new: name }) : map({ old: policy, new: updates });
    const planned = `Policy ${vhost} ${name} is set to be ${isNew ? "created" : "updated"}`;
    if (context.test) return { ...startResult(name, null), comment: planned, changes };
    const answer = await context.call(
      "rabbitmq.set_policy",
      [vhost, name, pattern, definition],
      keywords({ priority, runas, apply_to }),
    );
    return { ...startResult(name), comment: answerText(answer, "Set"), changes };
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that a policy does not exist.\n\nname\n    The policy.\n\nvhost\n    The virtual host.\n\nrunas\n    The user who runs rabbitmqctl.",
  params: { name: p.str(), vhost: p.str("/"), runas: p.str(null) },
  run: async ({ name, vhost, runas }, context) =>
    await reach({
      name,
      isDone: !truthy(await rabbitmq("policy_exists", [vhost, name], runas, context)),
      done: `Policy '${vhost} ${name}' is not present.`,
      planned: `Policy '${vhost} ${name}' will be removed.`,
      changes: { new: "", old: name },
      act: async () => {
        await rabbitmq("delete_policy", [vhost, name], runas, context);
        return "Deleted";
      },
    }, context),
});
