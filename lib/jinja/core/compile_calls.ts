/**
 * Makes closures of calls, filters and tests.
 * Source: jinja2 3.1, "compiler".
 * @module
 */

import { callObject, methodsOf } from "#lib/python/attributes.ts";
import { pythonError } from "#lib/python/errors.ts";
import { isIterable, toList } from "#lib/python/iterate.ts";
import { textOf, typeNameOf } from "#lib/python/kinds.ts";
import { type Kwargs, NO_KWARGS, type Obj, type Result } from "#lib/python/object.ts";
import { syntaxError } from "#lib/jinja/syntax/errors.ts";
import { runtimeError } from "./errors.ts";
import type { Eval, Frame, Maybe } from "./frame.ts";
import type { Arguments, ExprOf } from "#lib/jinja/syntax/nodes.ts";
import { evaluateAll, then, unaryEval } from "./results.ts";
import type { Scope } from "./scope.ts";

/** The evaluated arguments of a call. */
export interface EvaluatedArguments {
  readonly args: Obj[];
  readonly kwargs: Kwargs;
}

/** A closure that evaluates the arguments of a call. */
type GivenEval = (frame: Frame) => Maybe<EvaluatedArguments>;

/** Evaluates arguments in the order of the call. */
function compileArguments({ args, kwargs, dynArgs, dynKwargs }: Arguments, scope: Scope): GivenEval {
  const positional = args.map((arg) => scope.expression(arg));
  if (kwargs.length === 0 && dynArgs === null && dynKwargs === null) {
    return (frame) => {
      const values = evaluateAll(positional, frame);
      return values instanceof Promise
        ? values.then((later) => ({ args: later, kwargs: NO_KWARGS }))
        : { args: values, kwargs: NO_KWARGS };
    };
  }
  const keywords = kwargs.map(({ value }) => scope.expression(value));
  const more = [dynArgs, dynKwargs].map((node) => node === null ? undefined : scope.expression(node));
  const [rest, others] = more;
  const evals = [
    ...positional,
    ...rest === undefined ? [] : [rest],
    ...keywords,
    ...others === undefined ? [] : [others],
  ];
  return (frame) =>
    then(evaluateAll(evals, frame), (values) => {
      const given: { args: Obj[]; kwargs: Map<string, Obj> } = {
        args: values.slice(0, positional.length),
        kwargs: new Map(),
      };
      let at = positional.length;
      if (rest !== undefined) given.args.push(...restArguments(values[at++]));
      for (const { key } of kwargs) addKeyword(given.kwargs, key, values[at++]);
      if (others !== undefined) addKeywords(given.kwargs, values[at]);
      return given;
    });
}

function restArguments(rest: Obj): Obj[] {
  if (!isIterable(rest)) throw pythonError("TypeError", `Value after * must be an iterable, not ${typeNameOf(rest)}`);
  return toList(rest);
}

/** The prefix of Python's error message for a call that Jinja makes: the function that Jinja calls. */
const CALLED = "jinja2.sandbox.SandboxedEnvironment.call()";

function addKeyword(kwargs: Map<string, Obj>, key: string, value: Obj): void {
  if (kwargs.has(key)) throw pythonError("TypeError", `${CALLED} got multiple values for keyword argument '${key}'`);
  kwargs.set(key, value);
}

function addKeywords(kwargs: Map<string, Obj>, others: Obj): void {
  if (!(others instanceof Map)) {
    throw pythonError("TypeError", `${CALLED} argument after ** must be a mapping, not ${typeNameOf(others)}`);
  }
  for (const [key, value] of others) {
    const name = textOf(key);
    if (name === undefined) throw pythonError("TypeError", "keywords must be strings");
    addKeyword(kwargs, name, value);
  }
}

/** @param extra Keywords that the call gets besides its own: `caller`. */
export function compileCall(
  node: ExprOf<"Call">,
  scope: Scope,
  extra?: (frame: Frame) => ReadonlyMap<string, Obj>,
): Eval {
  const given = compileArguments(node, scope);
  const at = scope.position(node);
  const call = (callee: Obj, { args, kwargs }: EvaluatedArguments, frame: Frame): Result => {
    frame.at = at;
    frame.step();
    return callObject(callee, args, extra === undefined ? kwargs : new Map([...kwargs, ...extra(frame)]), frame);
  };
  const generic = (callee: Obj, frame: Frame): Result => {
    const values = given(frame);
    return values instanceof Promise ? values.then((later) => call(callee, later, frame)) : call(callee, values, frame);
  };
  if (node.node.type !== "Getattr" || extra !== undefined) return unaryEval(scope.expression(node.node), generic);
  const { attr } = node.node;
  const attributeAt = scope.position(node.node);
  // A method of a built-in type is run without creating a method object.
  return unaryEval(scope.expression(node.node.node), (self, frame) => {
    const method = methodsOf(self).get(attr);
    if (method === undefined) {
      frame.at = attributeAt;
      const callee = frame.context.environment.attribute(self, attr);
      return callee instanceof Promise ? callee.then((later) => generic(later, frame)) : generic(callee, frame);
    }
    const run = (values: EvaluatedArguments): Result => {
      frame.at = at;
      frame.step();
      values.args.unshift(self);
      return method(values.args, values.kwargs, frame);
    };
    const values = given(frame);
    return values instanceof Promise ? values.then(run) : run(values);
  });
}

/** A filter applied to a value; in a filter block, to the text of the block. */
export function compileFilter(node: ExprOf<"Filter">, scope: Scope, block?: Eval): Eval {
  const value = node.node === null
    ? block
    : node.node.type === "Filter"
    ? compileFilter(node.node, scope, block)
    : scope.expression(node.node);
  if (value === undefined) throw syntaxError("a filter has no value", node);
  return compileOperation("filter", node, scope, value);
}

/** A test of a value. */
export function compileTest(node: ExprOf<"Test">, scope: Scope): Eval {
  return compileOperation("test", node, scope, scope.expression(node.node));
}

function compileOperation(kind: "filter" | "test", node: ExprOf<"Filter" | "Test">, scope: Scope, value: Eval): Eval {
  const { name } = node;
  const run = (kind === "filter" ? scope.operations.filters : scope.operations.tests).get(name);
  const at = scope.position(node);
  if (run === undefined) {
    // In code that may never run, it is an error only at run time.
    if (!scope.isSoft) throw syntaxError(`No ${kind} named '${name}'.`, node, "TemplateAssertionError");
    return (frame) => {
      frame.at = at;
      throw runtimeError(`No ${kind} named '${name}' found.`);
    };
  }
  const given = compileArguments(node, scope);
  return unaryEval(value, (self, frame) => {
    const apply = ({ args, kwargs }: EvaluatedArguments): Result => {
      frame.at = at;
      frame.step();
      args.unshift(self);
      return run(args, kwargs, frame);
    };
    const values = given(frame);
    return values instanceof Promise ? values.then(apply) : apply(values);
  });
}
