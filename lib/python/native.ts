/**
 * Functions with parameters, as Python binds them: by position, by keyword, with defaults.
 * @module
 */

import { pythonError } from "./errors.ts";
import { type CallContext, type Kwargs, NO_KWARGS, type Obj, type Result, type Run } from "./object.ts";

/**
 * One parameter: a name for one that must be given, `[name, default]`, `"*args"` for the rest of the positional ones,
 * `"**kwargs"` for other keywords. A default of `undefined` is for the body to see that nothing was given.
 */
export type Param = string | readonly [name: string, fallback: Obj | undefined];

/** Values that the body gets in addition to the arguments. */
export interface NativeCall {
  readonly context: CallContext;
  /** Positional arguments after those of the parameters. */
  readonly rest: readonly Obj[];
  /** Keywords that no parameter has. */
  readonly kwargs: Kwargs;
}

/** The code of a function: its arguments in the order of the parameters. */
export type Body = (args: NativeArguments, call: NativeCall) => Result;

/** Arguments in the order of the parameters; one with the default `undefined` may be missing. */
export type NativeArguments = readonly Obj[];

/**
 * A function of Python.
 * @param name For messages.
 * @param type The built-in type whose method it is: its messages count without the object.
 */
export function native(name: string, params: readonly Param[], body: Body, type?: string): Run {
  const positional = params.filter((param) => typeof param !== "string" || !param.startsWith("*"));
  const names = positional.map((param) => typeof param === "string" ? param : param[0]);
  const fallbacks = positional.map((param) => typeof param === "string" ? undefined : param[1]);
  const required = positional.filter((param) => typeof param === "string").length;
  const takesRest = params.includes("*args");
  const takesKwargs = params.includes("**kwargs");
  return (args, kwargs, context) => {
    if (args.length > names.length && !takesRest) {
      const count = { names, required, given: args.length };
      throw type === undefined ? tooMany(name, count) : wrongCount(`${type}.${name}`, count);
    }
    const bound: Obj[] = [];
    let used = 0;
    for (let i = 0; i < names.length; i++) {
      let value: Obj | undefined = i < args.length ? args[i] : undefined;
      if (kwargs.size > 0) {
        const keyword = kwargs.get(names[i]);
        if (keyword !== undefined) {
          if (value !== undefined) {
            throw pythonError("TypeError", `${name}() got multiple values for argument '${names[i]}'`);
          }
          value = keyword;
          used++;
        }
      }
      if (value === undefined) {
        if (i < required && type !== undefined) {
          throw wrongCount(`${type}.${name}`, { names, required, given: args.length });
        }
        if (i < required) {
          throw missing(
            name,
            names.slice(0, required).filter((each, j) => j >= args.length && !kwargs.has(each)),
          );
        }
        value = fallbacks[i];
      }
      bound.push(value as Obj);
    }
    let others: Kwargs = NO_KWARGS;
    if (kwargs.size > used) {
      others = new Map([...kwargs].filter(([key]) => !names.includes(key)));
      if (!takesKwargs) {
        const [first] = others.keys();
        throw pythonError("TypeError", `${name}() got an unexpected keyword argument '${first}'`);
      }
    }
    return body(bound, { context, kwargs: others, rest: args.length > names.length ? args.slice(names.length) : [] });
  };
}

function tooMany(name: string, how: { names: readonly string[]; required: number; given: number }): Error {
  const { names, required, given } = how;
  const takes = required === names.length ? `${required}` : `from ${required} to ${names.length}`;
  const plural = names.length === 1 ? "" : "s";
  return pythonError("TypeError", `${name}() takes ${takes} positional argument${plural} but ${given} were given`);
}

function missing(name: string, names: readonly string[]): Error {
  const quoted = names.map((each) => `'${each}'`);
  const last = quoted.pop() ?? "";
  const list = quoted.length === 0 ? last : `${quoted.join(", ")}${quoted.length > 1 ? "," : ""} and ${last}`;
  const plural = names.length === 1 ? "" : "s";
  return pythonError("TypeError", `${name}() missing ${names.length} required positional argument${plural}: ${list}`);
}

/**
 * The messages of Python's built-in methods.
 * @param name `str.upper`.
 */
function wrongCount(name: string, how: { names: readonly string[]; required: number; given: number }): Error {
  const required = how.required - 1, max = how.names.length - 1, given = how.given - 1;
  if (max === 0) return pythonError("TypeError", `${name}() takes no arguments (${given} given)`);
  if (max === 1 && required === 1) {
    return pythonError("TypeError", `${name}() takes exactly one argument (${given} given)`);
  }
  const short = name.slice(name.indexOf(".") + 1);
  const bound = given < required ? required : max;
  const plural = bound === 1 ? "" : "s";
  return pythonError(
    "TypeError",
    `${short} expected at ${given < required ? "least" : "most"} ${bound} argument${plural}, got ${given}`,
  );
}
