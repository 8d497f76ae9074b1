/**
 * Binds arguments to a function's declared parameters: converts them, or refuses them by name before the function runs.
 * Knows nothing of loading, jobs or the wire. Error texts follow Python's, which Salt passes on.
 * Source: docs.python.org "Calls"; Salt 3008.3 `salt/minion.py` load_args_and_kwargs, `salt/utils/args.py`.
 * @module
 */

import { isPublication } from "#lib/yaml/arguments.ts";
import { truncateRepr } from "#lib/text/truncate.ts";
import { InvocationError } from "#lib/errors.ts";
import type { ModuleFunction, Parameter, Parameters, ParameterType, Rest } from "./module.ts";
import {
  isFloat,
  isInt,
  isMap,
  str,
  toNumber,
  toValue,
  typeName,
  type Value,
  type ValueMap,
} from "#lib/values/value.ts";

/** The parts of a function that binding needs: everything but its code. */
export type FunctionSignature = Omit<ModuleFunction<never>, "run">;

/** Arguments as {@linkcode ModuleFunction.run} takes them. */
export interface BoundCall {
  /** One field for each declared parameter; defaults are filled in. */
  readonly bound: Readonly<Record<string, unknown>>;
  /** The values of `*args` and `**kwargs`; empty unless the function declares them. */
  readonly rest: Rest;
}

/** A function's signature as in `sys.argspec`; None for missing parts. */
export interface Argspec {
  /** The names of the parameters. */
  readonly args: string[] | null;
  /** The defaults of the last parameters, in order. */
  readonly defaults: Value[] | null;
  /** Whether it takes more positional arguments. */
  readonly varargs: true | null;
  /** Whether it takes more keyword arguments. */
  readonly kwargs: true | null;
}

/**
 * Binds arguments to the parameters of `fun`.
 * @param name The function's full name (`test.echo`), for error texts.
 * @throws {InvocationError} For an unknown keyword; with `usage`, for a wrong number or type of arguments.
 */
export function bind(fun: FunctionSignature, args: readonly Value[], kwargs: ValueMap, name: string): BoundCall {
  const names = Object.keys(fun.params);
  const positional = fun.keywordOnly === true ? 0 : names.length;
  const leftKwargs = splitKwargs(fun, kwargs);
  const short = name.slice(name.indexOf(".") + 1);
  const refuse = (message: string) => new InvocationError(message, fun.doc);

  if (args.length > names.length && fun.varArgs === undefined) {
    throw refuse(`${short}() ${takes(fun.params)} but ${args.length} ${args.length === 1 ? "was" : "were"} given`);
  }
  const bound: Record<string, unknown> = {};
  const missing: string[] = [];
  names.forEach((parameter, i) => {
    const declared = fun.params[parameter];
    const inPlace = i < positional && i < args.length;
    if (inPlace && kwargs.has(parameter)) {
      throw new InvocationError(`${short}() got multiple values for argument '${parameter}'`);
    }
    const given = inPlace ? args[i] : kwargs.get(parameter);
    if (given !== undefined) bound[parameter] = fit(given, { parameter, declared, refuse });
    else if (declared.default !== undefined) bound[parameter] = unwrapDefault(declared);
    else missing.push(`'${parameter}'`);
  });
  if (missing.length > 0) {
    const plural = missing.length === 1 ? "" : "s";
    throw refuse(`${short}() missing ${missing.length} required positional argument${plural}: ${enumerate(missing)}`);
  }
  return { bound, rest: { args: args.slice(positional), kwargs: leftKwargs } };
}

/**
 * The keyword arguments without a parameter.
 * @throws {InvocationError} If the function has no `**kwargs` for them.
 */
function splitKwargs(fun: FunctionSignature, kwargs: ValueMap): ValueMap {
  const left: ValueMap = new Map();
  for (const [key, item] of kwargs) {
    if (typeof key === "string" && Object.hasOwn(fun.params, key)) continue;
    if (fun.varKwargs !== undefined || !isPublication(key)) left.set(key, item);
  }
  if (left.size > 0 && fun.varKwargs === undefined) {
    const words = [...left].map(([key, item]) => `${str(key)}=${str(item)}`);
    throw new InvocationError(`The following keyword arguments are not valid: ${words.join(", ")}`);
  }
  return left;
}

function takes(params: Parameters): string {
  const all = Object.values(params);
  const required = all.filter((parameter) => parameter.default === undefined).length;
  const range = required === all.length ? `${required}` : `from ${required} to ${all.length}`;
  return `takes ${range} positional argument${all.length === 1 && required === 1 ? "" : "s"}`;
}

/** Python's form of a list: `a`, `a and b`, `a, b, and c`. */
function enumerate(words: string[]): string {
  if (words.length < 3) return words.join(" and ");
  return `${words.slice(0, -1).join(", ")}, and ${words[words.length - 1]}`;
}

function unwrapDefault(declared: Parameter): unknown {
  const value = declared.default;
  if (value === undefined || value === null || declared.type === "any") return value;
  return declared.type === "float" ? toNumber(value) : value;
}

interface Fitting {
  readonly parameter: string;
  readonly declared: Parameter;
  readonly refuse: (message: string) => InvocationError;
}

function fit(given: Value, { parameter, declared, refuse }: Fitting): unknown {
  if (given === null && declared.default === null) return null;
  const fitted = CONVERSIONS[declared.type](given);
  if (fitted !== undefined) return fitted;
  throw refuse(
    `argument '${parameter}' must be ${WANTED[declared.type]}, not ${typeName(given)} ${truncateRepr(given)}`,
  );
}

const WANTED: Readonly<Record<ParameterType, string>> = {
  any: "a value",
  str: "a str",
  int: "an int",
  float: "a number",
  bool: "a bool",
  list: "a list",
  dict: "a dict",
};

/** Conversion of a value to each type; `undefined` refuses it. */
const CONVERSIONS: Readonly<Record<ParameterType, (given: Value) => unknown>> = {
  any: (given) => given,
  str: (given) => given === null || typeof given === "object" && toNumber(given) === undefined ? undefined : str(given),
  int: toInt,
  float: (given) => typeof given === "string" ? numberIn(given) : toNumber(given),
  bool: toBool,
  list: (given) => {
    if (Array.isArray(given)) return given;
    if (typeof given === "string") return given.split(",").map((item) => item.trim());
    return given === null || isMap(given) || given instanceof Uint8Array ? undefined : [given];
  },
  dict: (given) => isMap(given) ? given : undefined,
};

function numberIn(text: string): number | undefined {
  const trimmed = text.trim();
  return /^[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(trimmed) ? Number(trimmed) : undefined;
}

/** Ints that JavaScript represents exactly; a float only without a fraction, such as `1.0` from YAML. */
function toInt(given: Value): number | undefined {
  const n = typeof given === "string" && /^\s*[+-]?\d+\s*$/.test(given) ? Number(given) : given;
  const plain = isFloat(n) || isInt(n) ? toNumber(n) : undefined;
  return plain !== undefined && Number.isSafeInteger(plain) ? plain : undefined;
}

function toBool(given: Value): boolean | undefined {
  if (typeof given === "boolean") return given;
  if (typeof given === "string") {
    const word = given.trim().toLowerCase();
    return word === "true" ? true : word === "false" ? false : undefined;
  }
  const n = toNumber(given);
  return n === undefined ? undefined : n > 0;
}

/**
 * Binds the arguments and runs the function.
 * @param given.name The function's full name, for refusals.
 * @throws {InvocationError} As {@linkcode bind}; else whatever the function throws.
 */
export async function invoke<C>(
  fun: ModuleFunction<C>,
  given: { readonly name: string; readonly args: readonly Value[]; readonly kwargs: ValueMap; readonly context: C },
): Promise<Value> {
  const { bound, rest } = bind(fun, given.args, given.kwargs, given.name);
  return toValue(await fun.run(bound, given.context, rest));
}

/** The signature of `fun` in the shape of Salt's `sys.argspec`. */
export function argspec(fun: FunctionSignature): Argspec {
  const args = Object.keys(fun.params);
  const defaults = Object.values(fun.params).flatMap(({ default: value }) => value === undefined ? [] : [value]);
  return {
    args: args.length > 0 ? args : null,
    defaults: defaults.length > 0 ? defaults : null,
    varargs: fun.varArgs === undefined ? null : true,
    kwargs: fun.varKwargs === undefined ? null : true,
  };
}
