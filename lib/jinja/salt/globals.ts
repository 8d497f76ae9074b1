/**
 * The functions that every template of Salt has besides Jinja's: `raise`, `ifelse`, `odict`, `show_full_context`.
 * Source: Salt 3008.3, `salt/utils/jinja.py`, `salt/utils/data.py` simple_types_filter, `salt/modules/match.py` ifelse.
 * @module
 */

import { PythonError } from "#lib/errors.ts";
import { jinjaGlobals } from "#lib/jinja/core/globals.ts";
import { dictOf } from "#lib/jinja/filters/dict_of.ts";
import { pythonError } from "#lib/python/errors.ts";
import { native } from "#lib/python/native.ts";
import { type CallContext, Func, type Kwargs, type Obj, PyObject, type Result } from "#lib/python/object.ts";
import { reprOf, strOf } from "#lib/python/repr.ts";
import { Tuple, ValueSet } from "#lib/values/tuple.ts";
import { HOST_VARIABLE } from "./host_object.ts";

/** Values nested deeper than this are converted to text. */
const DEEPEST = 50;

/** `obj` with only simple types: other values are converted to text. */
function simple(obj: Obj, depth: number): Obj {
  if (obj === null || !(typeof obj === "object") || depth > DEEPEST) return obj instanceof PyObject ? reprOf(obj) : obj;
  if (Array.isArray(obj) && !(obj instanceof ValueSet)) {
    // A tuple within a list stays as it is.
    return obj.map((item) => item instanceof Tuple ? item : simple(item, depth + 1));
  }
  if (obj instanceof Map) {
    return dictOf(Array.from(obj, ([key, value]) => [simpleKey(key), simple(value, depth + 1)] as const));
  }
  return reprOf(obj);
}

function simpleKey(key: Obj): Obj {
  return key === null || typeof key !== "object" ? key : reprOf(key);
}

function fullContext(_args: readonly Obj[], _kwargs: Kwargs, context: CallContext): Obj {
  const variables = [...context.variables()].filter(([name]) => name !== HOST_VARIABLE);
  return simple(dictOf(variables), 0);
}

/** Calls the minion's own function; in Salt this fails. */
function ifelse(args: readonly Obj[], kwargs: Kwargs, context: CallContext): Result {
  const salt = context.lookup("salt");
  const call = (fun: Obj): Result => {
    if (fun instanceof PyObject && fun.callable) return fun.call(args, kwargs, context);
    throw pythonError("RuntimeError", "ifelse needs the function match.ifelse, which is not available here");
  };
  const value = salt === undefined ? null : context.item(salt, "match.ifelse");
  return value instanceof Promise ? value.then(call) : call(value);
}

/** The globals of a new environment. */
export function saltGlobals(): Map<string, Obj> {
  const globals = jinjaGlobals();
  const raise = native("jinja_raise", ["msg"], ([message]) => {
    throw new PythonError("TemplateError", strOf(message));
  });
  globals.set("raise", new Func("jinja_raise", raise));
  globals.set("ifelse", new Func("ifelse", ifelse));
  globals.set("odict", globals.get("dict") ?? null);
  globals.set("show_full_context", new Func("show_full_context", fullContext));
  return globals;
}
