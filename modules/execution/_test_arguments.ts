/**
 * The functions of execution module `test` that show what arrives of the arguments; `test.ts` exports them.
 * Source: Salt 3008.3 `salt/modules/test.py`.
 * @module
 */

import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { Tuple } from "#lib/values/tuple.ts";
import { repr, typeName, type Value, type ValueMap } from "#lib/values/value.ts";

export const arg: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return all arguments: a map of `args` and `kwargs`. The fields of the publication are among the latter, as\n" +
      "`__pub_jid` and the like.",
    `test.arg 1 "two" 3.1 txt="hello" wow='{a: 1, b: "hello"}'`,
  ),
  params: {},
  varArgs: "args",
  varKwargs: "kwargs",
  run: (_bound, _context, rest) => ({ args: new Tuple(rest.args), kwargs: rest.kwargs }),
});

export const arg_clean: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return all arguments as test.arg does, without the fields of the publication.",
    `test.arg_clean 1 "two" 3.1 txt="hello" wow='{a: 1, b: "hello"}'`,
  ),
  params: {},
  varArgs: "args",
  varKwargs: "kwargs",
  run: (_bound, _context, rest) => ({ args: new Tuple(rest.args), kwargs: withoutPublication(rest.kwargs) }),
});

export const arg_type: ModuleFunction<JobContext> = fn({
  doc: describe("Return the Python name of each argument's type.", "test.arg_type 1 'int'"),
  params: {},
  varArgs: "args",
  varKwargs: "kwargs",
  run: (_bound, _context, rest) => ({
    args: rest.args.map(className),
    kwargs: new Map([...rest.kwargs].map(([key, item]) => [key, className(item)])),
  }),
});

export const arg_repr: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return all arguments in Python's notation (repr).",
    `test.arg_repr 1 "two" 3.1 txt="hello" wow='{a: 1, b: "hello"}'`,
  ),
  params: {},
  varArgs: "args",
  varKwargs: "kwargs",
  run: (_bound, _context, { args, kwargs }) => ({
    args: repr(new Tuple(args)),
    kwargs: repr(kwargs),
  }),
});

export const kwarg: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the keyword arguments, the fields of the publication among them.",
    `test.kwarg num=1 txt="two" env='{a: 1, b: "hello"}'`,
  ),
  params: {},
  varKwargs: "kwargs",
  run: (_bound, _context, rest) => rest.kwargs,
});

/** Keyword arguments without the fields of the publication, and whatever else begins as they do. */
export function withoutPublication(kwargs: ValueMap): ValueMap {
  return new Map([...kwargs].filter(([key]) => !(typeof key === "string" && key.startsWith("__"))));
}

function className(value: Value): string {
  return `<class '${typeName(value)}'>`;
}
