/**
 * `salt.wait_for_event`: an orchestration waits for events on a bus.
 * Source: Salt 3008.3 `salt/states/saltmod.py` wait_for_event.
 * @module
 */

import { masterBus, minionBus } from "#lib/bus/paths.ts";
import { watchBus } from "#lib/bus/watch.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { startResult, stateFn } from "#lib/plugins/state_module.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { equals, float, isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The identifier of an event: a field of its data, or of nested data. */
function identifier(data: ValueMap, field: string): Value {
  const own = data.get(field) ?? null;
  const inner = data.get("data");
  return own === null && isMap(inner) ? inner.get(field) ?? null : own;
}

export const wait_for_event: ModuleFunction<StateContext> = stateFn({
  doc: `Wait until events with all of these identifiers have been received.

name
    The tag of the events, a glob.

id_list
    The identifiers, mostly ids of minions.

event_id : id
    The field of the event data with the identifier, or with a list of them.

timeout : 300
    Seconds after which the state fails.

node : master
    Whose bus: \`master\` or \`minion\`.`,
  params: { name: p.str(), id_list: p.any(), event_id: p.str("id"), timeout: p.float(300), node: p.str("master") },
  async run({ name, id_list, event_id, timeout, node }, context) {
    if (context.test) {
      return { ...startResult(name, null), comment: `Orchestration would wait for event '${name}'` };
    }
    const missing = Array.isArray(id_list) ? [...id_list] : [id_list];
    const seen: Value[] = [];
    const result = startResult(name, false);
    const begin = performance.now();
    const { opts } = context;
    const bus = node === "minion" ? minionBus({ ...opts, id: opts.id ?? "" }) : masterBus(opts.sock_dir);
    const end = new AbortController();
    const timer = setTimeout(() => end.abort(), timeout * 1000);
    const matches = compileGlob(name);
    try {
      const signal = AbortSignal.any([end.signal, context.signal]);
      for await (const { tag, data } of watchBus(bus.pub, { tags: name, signal })) {
        if (!matches(tag)) continue;
        const ids = identifier(data, event_id);
        const given = Array.isArray(ids) ? ids : ids === null ? [] : [ids];
        for (const id of missing.filter((one) => given.some((other) => equals(one, other)))) {
          missing.splice(missing.indexOf(id), 1);
          seen.push(id);
        }
        if (seen.length > 0) result.changes.set("minions_seen", seen);
        if (missing.length > 0) continue;
        const seconds = str(float((performance.now() - begin) / 1000));
        return { ...result, result: true, comment: `All events seen in ${seconds} seconds.` };
      }
    } finally {
      clearTimeout(timer);
    }
    return { ...result, comment: "Timeout value reached." };
  },
});
