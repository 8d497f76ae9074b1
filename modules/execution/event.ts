/**
 * Execution module `event`: events on the minion's own bus and on the master's.
 * Source: Salt 3008.3 `salt/modules/event.py`.
 * @module
 */

import { isMasterless } from "#lib/config/masterless.ts";
import { messageOf } from "#lib/errors.ts";
import { isDone } from "#lib/protocol/acknowledgement.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { isMap, map, toValue, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const fire: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Fire an event on the minion's own bus. The data is a map.",
    `event.fire '{"data": "my event data"}' 'tag'`,
  ),
  params: { data: p.dict(), tag: p.str() },
  run: ({ data, tag }, { outside }) => outside.fire(data, tag),
});

export const fire_master: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Fire an event on the master's bus. The fields of `preload` are added to the request that carries it.",
    `event.fire_master '{"data": "my event data"}' 'tag'`,
  ),
  params: { data: p.any(), tag: p.str(), preload: p.dict(null) },
  run: ({ data, tag, preload }, context) => fireMaster(context, { data, tag, preload }),
});

export const send: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Fire an event on the master's bus; without a master, on the minion's own. Keyword arguments are added to its data.\n" +
      "`with_env`, `with_grains` and `with_pillar` add the environment, grains and pillar: True for all of it, or a list of\n" +
      "names. `with_env_opts` adds `saltenv` and `pillarenv`. What `data` holds wins over all of that.",
    "event.send myco/mytag foo=Foo bar=Bar",
    "event.send 'myco/mytag' '{foo: Foo, bar: Bar}'",
  ),
  permissions: { env: true },
  params: {
    tag: p.str(),
    data: p.any(null),
    preload: p.dict(null),
    with_env: p.any(false),
    with_grains: p.any(false),
    with_pillar: p.any(false),
    with_env_opts: p.bool(false),
  },
  varKwargs: "kwargs",
  run: (bound, context, rest) => {
    const { opts, grains, pillar } = context;
    const data: ValueMap = new Map();
    if (truthy(bound.with_env)) data.set("environ", subset(map(Deno.env.toObject()), bound.with_env));
    if (truthy(bound.with_grains)) data.set("grains", subset(grains, bound.with_grains));
    if (truthy(bound.with_pillar)) data.set("pillar", subset(pillar, bound.with_pillar));
    if (bound.with_env_opts) data.set("saltenv", opts.saltenv ?? "base").set("pillarenv", opts.pillarenv);
    for (const [key, value] of rest.kwargs) data.set(key, value);
    if (isMap(bound.data)) { for (const [key, value] of bound.data) data.set(key, value); }
    if (isMasterless(context.opts)) return context.outside.fire(data, bound.tag);
    return fireMaster(context, { data, tag: bound.tag, preload: bound.preload });
  },
});

interface MasterEvent {
  readonly data: Value;
  readonly tag: string;
  readonly preload: ValueMap | null;
}

async function fireMaster(context: JobContext, { data, tag, preload }: MasterEvent): Promise<boolean> {
  if (isMasterless(context.opts)) {
    context.log("warning", `This minion has no master: the event ${JSON.stringify(tag)} is not sent`);
    return false;
  }
  const load = map({ id: context.opts.id, tag, data: toValue(data), cmd: "_minion_event" });
  // As in Salt, whose minion sends an event without more fields of the request.
  if (preload === null) load.set("pretag", null);
  for (const [key, value] of preload ?? []) load.set(key, value);
  try {
    const answer = await context.outside.request(load);
    if (isDone(load.get("cmd"), answer)) return true;
    context.log("warning", `The master could not take the event ${JSON.stringify(tag)}`);
    return false;
  } catch (error) {
    const reason = messageOf(error);
    context.log("warning", `The event ${JSON.stringify(tag)} was not sent: ${reason}`);
    return false;
  }
}

/** All of `from`, or what a list names of it. */
function subset(from: ValueMap, wanted: Value): ValueMap {
  return Array.isArray(wanted) ? new Map([...from].filter(([key]) => wanted.includes(key))) : from;
}
