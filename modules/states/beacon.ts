/**
 * State module `beacon`: beacons of the running minion.
 * Source: Salt 3008.3 `salt/states/beacon.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, type GivenResult, startResult, stateFn } from "#lib/plugins/state_module.ts";
import { equals, isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

async function listBeacons(context: StateContext): Promise<ValueMap> {
  const listed = await context.call("beacons.list", [], map({ return_yaml: false }));
  return isMap(listed) ? listed : new Map();
}

/** The outcome of a function of the execution module. */
async function change(fun: string, args: readonly Value[], context: StateContext) {
  const outcome = await context.call(`beacons.${fun}`, [...args], map(context.test ? { test: true } : {}));
  const field = (key: string): Value => isMap(outcome) ? outcome.get(key) ?? null : null;
  const changes = field("changes");
  return {
    done: truthy(field("result")),
    comment: str(field("comment")),
    changes: isMap(changes) ? changes : new Map<Value, Value>(),
    isChanged: isMap(changes),
  };
}

/** With `save`, also the file is changed. */
async function saveBeacons(name: string, save: boolean, context: StateContext): Promise<string[]> {
  if (!save) return [];
  if (context.test) return [`Beacon ${name} would be saved`];
  const outcome = await context.call("beacons.save");
  if (isMap(outcome) && outcome.get("result") === false) return [str(outcome.get("comment") ?? null)];
  return [`Beacon ${name} saved`];
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `A beacon has this configuration.

name
    The beacon.

save
    Whether it is also written to minion.d/beacons.conf, and so is there after a restart.

All other arguments are its configuration: each becomes a map of its list.`,
  params: { name: p.str(), save: p.bool(false) },
  varKwargs: "kwargs",
  async run({ name, save }, context, rest): Promise<GivenResult> {
    const data = [...ownKeywords(rest.kwargs)].map(([key, value]): Value => new Map([[key, value]]));
    const current = (await listBeacons(context)).get(name);
    if (current !== undefined && equals(current, data)) {
      const comment = [`Job ${name} in correct state`, ...await saveBeacons(name, save, context)];
      return { ...startResult(name), comment: comment.join("\n") };
    }
    const outcome = await change(current === undefined ? "add" : "modify", [name, data], context);
    if (!outcome.done) return failState(name, outcome.comment);
    const done = current === undefined ? `Adding ${name} to beacons` : `Modifying ${name} in beacons`;
    const says = context.test || (current !== undefined && !outcome.isChanged) ? outcome.comment : done;
    const comment = [says, ...await saveBeacons(name, save, context)].join("\n");
    return { ...startResult(name), comment, changes: outcome.changes };
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `There is no such beacon.

name
    The beacon.

save
    Whether it is also removed from minion.d/beacons.conf.`,
  params: { name: p.str(), save: p.bool(false) },
  varKwargs: "kwargs",
  async run({ name, save }, context): Promise<GivenResult> {
    const comment: string[] = [];
    if ((await listBeacons(context)).has(name)) {
      const outcome = await change("delete", [name], context);
      if (!outcome.done) return failState(name, outcome.comment);
      comment.push(context.test ? outcome.comment : `Removed ${name} from beacons`);
    } else comment.push(`${name} not configured in beacons`);
    return { ...startResult(name), comment: [...comment, ...await saveBeacons(name, save, context)].join("\n") };
  },
});

/** `enabled` and `disabled`. */
function makeSwitch(
  fun: "enable_beacon" | "disable_beacon",
  texts: { readonly doc: string; done(name: string): string; missing(name: string): string },
): ModuleFunction<StateContext> {
  return stateFn({
    doc: `${texts.doc}\n\nname\n    The beacon.`,
    params: { name: p.str() },
    varKwargs: "kwargs",
    async run({ name }, context): Promise<GivenResult> {
      if (!(await listBeacons(context)).has(name)) return { ...startResult(name), comment: texts.missing(name) };
      const outcome = await change(fun, [name], context);
      if (!outcome.done) return failState(name, outcome.comment);
      return { ...startResult(name), comment: context.test ? outcome.comment : texts.done(name) };
    },
  });
}

export const enabled: ModuleFunction<StateContext> = makeSwitch("enable_beacon", {
  doc: "A beacon is enabled.",
  done: (name) => `Enabled ${name} from beacons`,
  missing: (name) => `${name} not a configured beacon`,
});

export const disabled: ModuleFunction<StateContext> = makeSwitch("disable_beacon", {
  doc: "A beacon is disabled.",
  done: (name) => `Disabled beacon ${name}.`,
  missing: (name) => `Job ${name} is not configured.`,
});
