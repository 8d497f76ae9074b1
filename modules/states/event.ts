/**
 * State module `event`: events on the master's bus.
 * Source: Salt 3008.3 `salt/states/event.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { startResult, stateFn } from "#lib/plugins/state_module.ts";
import { map, truthy } from "#lib/values/value.ts";

export const send: ModuleFunction<StateContext> = stateFn({
  doc: `Send an event to the master's bus each time.

name
    The event's tag.

data
    Its data. More keywords are added to it.

preload
    A map that is added to the request to the master.

with_env, with_grains, with_pillar : False
    Whether the data has the environment, grains and pillar: True for all of it, or a list of names.

show_changed : True
    Whether the changes show the tag and the data.`,
  params: {
    name: p.str(),
    data: p.any(null),
    preload: p.dict(null),
    with_env: p.any(false),
    with_grains: p.any(false),
    with_pillar: p.any(false),
    show_changed: p.bool(true),
  },
  varKwargs: "kwargs",
  run: async ({ name, show_changed, ...event }, context, { kwargs }) => {
    const changes = show_changed ? map({ tag: name, data: event.data }) : new Map();
    if (context.test) return { name, result: null, comment: "Event would have been fired", changes };
    const sent = await context.call("event.send", [name], new Map([...map({ ...event }), ...kwargs]));
    return { name, result: truthy(sent), comment: "Event fired", changes };
  },
});

export const fire_master: ModuleFunction<StateContext> = { ...send, doc: `The same as event.send.\n\n${send.doc}` };

export const mod_watch: ModuleFunction<StateContext> = {
  ...send,
  doc: `Send an event because a watched state has changes.\n\n${send.doc}`,
};

export const wait: ModuleFunction<StateContext> = stateFn({
  doc: "Send an event, as event.send does, if a watched state has changes.\n\nname\n    The event's tag." +
    "\n\ndata\n    Its data.",
  params: { name: p.str(), sfun: p.any(null), data: p.any(null) },
  run: ({ name }) => startResult(name),
});
