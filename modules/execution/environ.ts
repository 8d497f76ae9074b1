/**
 * Execution module `environ`: the environment of the minion's process, which its commands inherit. It lasts until the
 * minion ends. Source: the functions of Salt 3008.3 `salt/modules/environ.py`.
 * @module
 */

import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Permissions } from "#lib/plugins/permissions.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, type Value } from "#lib/values/value.ts";

const ENVIRONMENT: Permissions = { env: true };

/**
 * Sets a variable to a text, to an empty string for False, or removes it.
 * @returns Its value, None, or False for anything else.
 */
function setVariable(key: string, value: Value, unset: boolean): Value {
  if (value === false && unset) {
    Deno.env.delete(key);
    return null;
  }
  if (typeof value !== "string" && value !== false) return false;
  Deno.env.set(key, value === false ? "" : value);
  return value === false ? "" : value;
}

export const setval: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set a variable of the minion's environment; False empties it, or, with `false_unsets`, removes it. Returns the value, or False for a value that is no " +
      "string. `permanent` is for Windows.",
    "environ.setval foo bar",
    "environ.setval baz val=False false_unsets=True",
  ),
  permissions: ENVIRONMENT,
  params: { key: p.str(), val: p.any(), false_unsets: p.bool(false), permanent: p.any(false) },
  run: ({ key, val, false_unsets }) => setVariable(key, val, false_unsets),
});

export const setenv: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set several variables, and return them as environ.setval does. `clear_all` empties all others, or, with `false_unsets`, removes them; " +
      "`update_minion` also fires the event `environ_setenv`.",
    'environ.setenv \'{"foo": "bar", "baz": "quux"}\'',
    'environ.setenv \'{"a": "b", "c": False}\' false_unsets=True',
  ),
  permissions: ENVIRONMENT,
  params: {
    environ: p.any(),
    false_unsets: p.bool(false),
    clear_all: p.bool(false),
    update_minion: p.bool(false),
    permanent: p.any(false),
  },
  run: async ({ environ, false_unsets, clear_all, update_minion, permanent }, { outside }) => {
    if (!isMap(environ)) return false;
    const set = new Map<Value, Value>();
    if (clear_all) {
      for (const key of Object.keys(Deno.env.toObject())) {
        if (!environ.has(key)) set.set(key, setVariable(key, false, false_unsets));
      }
    }
    for (const [key, value] of environ) {
      if (typeof value !== "string" && value !== false) return false;
      set.set(key, setVariable(str(key), value, false_unsets));
    }
    if (update_minion) await outside.fire(map({ environ, false_unsets, clear_all, permanent }), "environ_setenv");
    return set;
  },
});

export const get: ModuleFunction<JobContext> = fn({
  doc: describe("Return a variable, or `default`.", "environ.get foo", "environ.get baz default=False"),
  permissions: ENVIRONMENT,
  params: { key: p.any(), default: p.any("") },
  run: ({ key, default: fallback }) => typeof key === "string" ? Deno.env.get(key) ?? fallback : false,
});

export const has_value: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether there is a variable, or whether it has a value.", "environ.has_value foo"),
  permissions: ENVIRONMENT,
  params: { key: p.any(), value: p.any(null) },
  run: ({ key, value }) => {
    const current = typeof key === "string" ? Deno.env.get(key) : undefined;
    return current !== undefined && (value === null || current === value);
  },
});

export const item: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return one or several variables by name; `default` for missing ones.",
    "environ.item foo",
    "environ.item '[foo, baz]' default=None",
  ),
  permissions: ENVIRONMENT,
  params: { keys: p.any(), default: p.any("") },
  run: ({ keys, default: fallback }) => {
    const names = typeof keys === "string" ? [keys] : listOrEmpty(keys).map(str);
    return new Map(names.map((name): [Value, Value] => [name, Deno.env.get(name) ?? fallback]));
  },
});

export const items: ModuleFunction<JobContext> = fn({
  doc: describe("Return all variables.", "environ.items"),
  permissions: ENVIRONMENT,
  params: {},
  run: () => Deno.env.toObject(),
});
