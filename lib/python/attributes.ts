/**
 * The attributes of every object: methods of the built-in types from tables, those of other objects by themselves.
 * @module
 */

import { float, int } from "#lib/values/value.ts";
import { DICT_METHODS, SET_METHODS } from "./dict_methods.ts";
import { pythonError } from "./errors.ts";
import { floatOf, intOf, typeNameOf } from "./kinds.ts";
import { Markup } from "./markup.ts";
import { MARKUP_METHODS } from "./markup_methods.ts";
import { native } from "./native.ts";
import {
  type CallContext,
  Func,
  type Kwargs,
  type LookupResult,
  type Obj,
  PyObject,
  type Result,
  type Run,
} from "./object.ts";
import { BYTES_METHODS, LIST_METHODS, TUPLE_METHODS } from "./sequence_methods.ts";
import { PySet } from "./set.ts";
import { STR_METHODS } from "./str_methods.ts";
import { NamedTuple, Tuple, ValueSet } from "#lib/values/tuple.ts";

const INT_METHODS: ReadonlyMap<string, Run> = new Map<string, Run>([
  [
    "bit_length",
    native("bit_length", ["self"], ([self]) => {
      const size = BigInt(intOf(self) ?? 0);
      return size === 0n ? 0 : (size < 0n ? -size : size).toString(2).length;
    }),
  ],
  ["conjugate", native("conjugate", ["self"], ([self]) => self)],
]);

const FLOAT_METHODS: ReadonlyMap<string, Run> = new Map<string, Run>([
  ["is_integer", native("is_integer", ["self"], ([self]) => Number.isInteger(floatOf(self)))],
  ["conjugate", native("conjugate", ["self"], ([self]) => self)],
]);

const NONE: ReadonlyMap<string, Run> = new Map();

/** The methods of the object's built-in type, by name; their first argument is the object. */
export function methodsOf(obj: Obj): ReadonlyMap<string, Run> {
  if (typeof obj === "string") return STR_METHODS;
  if (obj instanceof Map) return DICT_METHODS;
  if (Array.isArray(obj)) {
    if (obj instanceof ValueSet) return SET_METHODS;
    return obj instanceof Tuple ? TUPLE_METHODS : LIST_METHODS;
  }
  if (obj instanceof PyObject) {
    if (obj instanceof PySet) return SET_METHODS;
    return obj instanceof Markup ? MARKUP_METHODS : NONE;
  }
  if (obj === null) return NONE;
  if (obj instanceof Uint8Array) return BYTES_METHODS;
  return intOf(obj) === undefined ? FLOAT_METHODS : INT_METHODS;
}

/** The attribute, a method bound to the object; `undefined` if there is none of that name. */
export function getAttribute(obj: Obj, name: string): LookupResult {
  const method = methodsOf(obj).get(name);
  if (method !== undefined) {
    return new Func(
      name,
      (args, kwargs, context) => method([obj, ...args], kwargs, context),
      "builtin_function_or_method",
    );
  }
  if (obj instanceof PyObject) return obj.getattr(name);
  if (obj instanceof NamedTuple) return obj.named(name);
  return numberAttribute(obj, name);
}

function numberAttribute(obj: Obj, name: string): Obj | undefined {
  const whole = intOf(obj);
  if (whole !== undefined) {
    if (name === "real" || name === "numerator") return int(BigInt(whole));
    if (name === "imag") return 0;
    return name === "denominator" ? 1 : undefined;
  }
  if (floatOf(obj) === undefined) return undefined;
  if (name === "real") return obj;
  return name === "imag" ? float(0) : undefined;
}

/** Attributes of every Python object that templates may not read. */
const COMMON: ReadonlySet<string> = new Set(
  ("__class__ __delattr__ __dir__ __doc__ __eq__ __format__ __ge__ __getattribute__ __getstate__ __gt__ __hash__ __init__ " +
    "__init_subclass__ __le__ __lt__ __ne__ __new__ __reduce__ __reduce_ex__ __repr__ __setattr__ __sizeof__ __str__ " +
    "__subclasshook__").split(" "),
);

const OF_CONTAINERS: ReadonlySet<string> = new Set("__len__ __getitem__ __contains__ __iter__".split(" "));
const OF_FUNCTIONS: ReadonlySet<string> = new Set(
  "__call__ __name__ __qualname__ __module__ __globals__ __code__ __closure__ __defaults__ __kwdefaults__ __dict__ __self__ __func__"
    .split(" "),
);

/** Whether Python's object has an attribute of that name that a sandboxed template may not read. */
export function hasPrivateAttribute(obj: Obj, name: string): boolean {
  if (!name.startsWith("__")) return false;
  if (COMMON.has(name)) return true;
  if (obj instanceof PyObject && obj.callable) return OF_FUNCTIONS.has(name);
  return typeNameOf(obj) !== "NoneType" && intOf(obj) === undefined && OF_CONTAINERS.has(name);
}

/**
 * Calls an object.
 * @throws {PythonError} TypeError if it cannot be called.
 */
export function callObject(obj: Obj, args: readonly Obj[], kwargs: Kwargs, context: CallContext): Result {
  if (obj instanceof PyObject) return obj.call(args, kwargs, context);
  throw pythonError("TypeError", `'${typeNameOf(obj)}' object is not callable`);
}
