/**
 * Answers what plugins in Python ask: functions and data of the minion that runs them.
 * @module
 */

import { CommandError, InvocationError, WireError } from "#lib/errors.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import { formatNested } from "#lib/output/nested.ts";
import { collectDocs } from "#lib/plugins/docs.ts";
import { callFunction } from "#lib/plugins/execution.ts";
import type { JobContext, StateContext } from "#lib/plugins/job_context.ts";
import { dumpYaml } from "#lib/yaml/dump.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import type { PythonQuestion } from "#lib/python_bridge/link/session.ts";
import { dumpJson } from "#lib/values/json.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** What the plugins of one job have changed for the functions that they call. */
export interface JobChanges {
  /** The grains, if a plugin has changed them. */
  grains?: ValueMap;
}

/** The answer to a question of a function that runs with `context`. */
export async function answerPython(
  { what, fields }: PythonQuestion,
  context: JobContext,
  changes: JobChanges,
): Promise<unknown> {
  switch (what) {
    case "grains":
      return context.grains;
    case "pillar":
      return context.pillar;
    case "opts":
      return withMinionsOpts(optsValues(context.opts));
    case "has":
      return await has(textOf(fields, "family"), textOf(fields, "fun"), context);
    case "names":
      return await names(textOf(fields, "family"), context);
    case "doc":
      return collectDocs(await context.catalogue.all(), [textOf(fields, "fun")]).get(textOf(fields, "fun")) ?? null;
    case "call":
      return await withGrains(context, fields, changes).call(
        textOf(fields, "fun"),
        listOf(fields, "args"),
        mapOf(fields, "kwargs"),
      );
    case "state":
      return await callState(fields, context);
    case "format":
      return format(fields.get("value") ?? null, textOf(fields, "out"));
    case "yaml_load":
      return loadYaml(textOf(fields, "text"), "<unicode string>");
    case "yaml_dump":
      return dumpYaml(fields.get("value") ?? null, { flow: truthy(fields.get("flow")) ? "leaves" : false });
    default:
      throw new CommandError(`the bridge has no answer to ${what}`);
  }
}

/** The options as plugins expect them. */
function withMinionsOpts(opts: ValueMap): ValueMap {
  if (!opts.has("__role")) opts.set("__role", "minion");
  return opts;
}

async function has(family: string, fun: string, { catalogue }: JobContext): Promise<boolean> {
  return await (family === "states" ? catalogue.states : catalogue).get(fun) !== undefined;
}

async function names(family: string, { catalogue }: JobContext): Promise<string[]> {
  return (await (family === "states" ? catalogue.states : catalogue).all()).map(({ name }) => name);
}

/** The context with the grains that plugins of the job have changed; other jobs do not see them. */
function withGrains(context: JobContext, fields: ValueMap, changes: JobChanges): JobContext {
  const changed = fields.get("grains");
  if (isMap(changed)) changes.grains = changed;
  const { grains } = changes;
  if (grains === undefined) return context;
  const own: JobContext = {
    ...context,
    grains,
    call: (name, args, kwargs) => callFunction(name, { args, kwargs, context: own }),
  };
  return own;
}

async function callState(fields: ValueMap, context: JobContext): Promise<ValueMap> {
  const name = textOf(fields, "fun");
  if (!isState(context)) throw new InvocationError(`${name} is called outside of a run of states`);
  const [first, ...more] = listOf(fields, "args");
  if (more.length > 0) throw new InvocationError(`${name} takes its arguments by name`);
  const kwargs = mapOf(fields, "kwargs");
  if (first !== undefined) kwargs.set("name", first);
  return await context.state(name, kwargs);
}

function isState(context: JobContext | StateContext): context is StateContext {
  return "state" in context;
}

function format(value: Value, out: string): string {
  if (out === "json") return dumpJson(value, { indent: 4 });
  return formatNested(value, { color: false });
}

function textOf(fields: ValueMap, name: string): string {
  const value = fields.get(name);
  if (typeof value !== "string") throw new WireError(`${name} is no text`, name);
  return value;
}

function listOf(fields: ValueMap, name: string): Value[] {
  const value = fields.get(name);
  if (!Array.isArray(value)) throw new WireError(`${name} is no list`, name);
  return value;
}

function mapOf(fields: ValueMap, name: string): ValueMap {
  const value = fields.get(name) ?? null;
  if (!isMap(value)) throw new WireError(`${name} is no map`, name);
  return map(Object.fromEntries([...value].map(([key, item]) => [str(key), item])));
}
