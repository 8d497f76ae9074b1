/**
 * High data: the IDs of all SLS files of a run, each with its state modules and their arguments. A map by ID: `{ID:
 * {__sls__: "web", __env__: "base", pkg: ["installed", {name: "nginx"}, {order: 10000}]}}`. The lists `__extend__` and
 * `__exclude__` are keys next to the IDs.
 *
 * The stages of the compiler (stages.ts) own the high data that they are given: they change it in place, and lists that
 * a YAML alias names twice stay one list, as in Salt.
 * @module
 */

import { Float, isMap, repr, type Value, type ValueMap } from "#lib/values/value.ts";

/** Whether `key` is one of the compiler's own. */
export function isReserved(key: Value): boolean {
  return typeof key === "string" && key.startsWith("__");
}

/** The state modules of an ID, each with its declaration; those with invalid names are left out. */
export function* declaredModules(body: Value | undefined): Generator<[string, Value]> {
  if (!isMap(body)) return;
  for (const [module, run] of body) if (typeof module === "string" && !module.startsWith("__")) yield [module, run];
}

/** The same, without those whose arguments are no list. */
export function* stateRuns(body: Value | undefined): Generator<[string, Value[]]> {
  for (const [module, run] of declaredModules(body)) if (Array.isArray(run)) yield [module, run];
}

/** The first key of a map; `undefined` of an empty one and of anything else. */
export function firstKey(argument: Value | undefined): Value | undefined {
  if (!isMap(argument)) return undefined;
  const first = argument.keys().next();
  return first.done ? undefined : first.value;
}

/** The first pair of a map. */
export function firstPair(argument: ValueMap): [Value, Value] | undefined {
  const first = argument.entries().next();
  return first.done ? undefined : first.value;
}

/** Whether `value` is a number in Python, which includes bools. */
export function isNumericValue(value: Value | undefined): value is number | bigint | boolean | Float {
  return typeof value === "number" || typeof value === "bigint" || typeof value === "boolean" || value instanceof Float;
}

/** The SLS of an ID, for errors. */
export function slsOf(body: Value | undefined): string {
  const sls = isMap(body) ? body.get("__sls__") : undefined;
  return typeof sls === "string" ? sls : "base";
}

/** Python's `str` of a rendered value, whose maps are of the class that Salt's YAML loader makes. */
export function renderedText(value: Value): string {
  return typeof value === "string" ? value : renderedRepr(value);
}

/** Python's `repr` of the same. */
export function renderedRepr(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(renderedRepr).join(", ")}]`;
  if (!isMap(value)) return repr(value);
  if (value.size === 0) return "OrderedDict()";
  return `OrderedDict([${
    [...value].map(([key, item]) => `(${renderedRepr(key)}, ${renderedRepr(item)})`).join(", ")
  }])`;
}
