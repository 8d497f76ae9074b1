/**
 * State module `rabbitmq_upstream`: the upstreams of federated exchanges and queues of RabbitMQ.
 * Source: Salt 3008.3 `salt/states/rabbitmq_upstream.py`.
 * @module
 */

import { NEEDS_RABBITMQ, orError, rabbitmq } from "./_rabbitmq.ts";
import { keywords } from "./_execution.ts";
import { CommandError, JsonError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { deepDiff } from "./_deep_diff.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = NEEDS_RABBITMQ;

/** The definition that the server has. */
function currentDefinition(text: Value): ValueMap {
  try {
    return mapOrEmpty(parseJson(str(text)));
  } catch (error) {
    if (error instanceof JsonError) return new Map();
    throw error;
  }
}

const DEFINITION = {
  uri: p.any(),
  prefetch_count: p.any(null),
  reconnect_delay: p.any(null),
  ack_mode: p.any(null),
  trust_user_id: p.any(null),
  exchange: p.any(null),
  max_hops: p.any(null),
  expires: p.any(null),
  message_ttl: p.any(null),
  ha_policy: p.any(null),
  queue: p.any(null),
};

export const present: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that an upstream exists.\n\nname\n    The upstream.\n\nuri\n    Where it is: one URI, or several with blanks between them.\n\n" +
    "prefetch_count, reconnect_delay, ack_mode, trust_user_id\n    Fields of its definition for exchanges and queues.\n\nexchange, max_hops, expires, " +
    "message_ttl, ha_policy\n    Fields for exchanges.\n\nqueue\n    The queue there, if it has another name.\n\nrunas\n    The user who runs rabbitmqctl.",
  params: { name: p.str(), ...DEFINITION, runas: p.str(null) },
  run: ({ name, runas, ...definition }, context) =>
    orError(name, async (): Promise<StateResult> => {
      const upstreams = mapOrEmpty(await rabbitmq("list_upstreams", [], runas, context));
      const fields = Object.entries(definition).filter(([, value]) => truthy(value));
      const wanted: ValueMap = new Map(fields.map(([key, value]) => [key.replaceAll("_", "-"), value]));
      const isNew = !upstreams.has(name);
      const changes = isNew
        ? map({ old: null, new: wanted })
        : deepDiff(currentDefinition(upstreams.get(name) ?? ""), wanted);
      if (changes.size === 0) {
        return { ...startResult(name), comment: `Upstream "${name}" already present as specified.` };
      }
      const action = isNew ? "create" : "update";
      if (context.test) {
        return { ...startResult(name, null), comment: `Upstream "${name}" would have been ${action}d.` };
      }
      try {
        await context.call("rabbitmq.set_upstream", [name], keywords({ ...definition, runas }));
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        return failState(name, `Error trying to ${action} upstream: ${error.message}`);
      }
      return { ...startResult(name), comment: `Upstream "${name}" ${action}d.`, changes };
    }),
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that an upstream does not exist.\n\nname\n    The upstream.\n\nrunas\n    The user who runs rabbitmqctl.",
  params: { name: p.str(), runas: p.str(null) },
  run: ({ name, runas }, context) =>
    orError(name, async (): Promise<StateResult> => {
      if (!truthy(await rabbitmq("upstream_exists", [name], runas, context))) {
        return { ...startResult(name), comment: `The upstream "${name}" is already absent.` };
      }
      if (context.test) {
        return { ...startResult(name, null), comment: `Upstream "${name}" would have been deleted.` };
      }
      await rabbitmq("delete_upstream", [name], runas, context);
      const changes = map({ old: name, new: null });
      return { ...startResult(name), comment: `Upstream "${name}" has been deleted.`, changes };
    }),
});
