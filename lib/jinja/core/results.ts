/**
 * Evaluation that waits only for promises: closures return at once as long as all functions that they call do.
 * @module
 */

import type { Obj, Result } from "#lib/python/object.ts";
import type { Eval, Exec, Flow, Frame, Maybe } from "./frame.ts";

/** Calls `next` with the value, at once if it is not a promise. */
export function then<A, B>(value: Maybe<A>, next: (value: A) => Maybe<B>): Maybe<B> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** An expression of one operand. */
export function unaryEval(operand: Eval, apply: (value: Obj, frame: Frame) => Result): Eval {
  return (frame) => {
    const value = operand(frame);
    return value instanceof Promise ? value.then((later) => apply(later, frame)) : apply(value, frame);
  };
}

/** An expression of two operands, the left one first. */
export function binaryEval(left: Eval, right: Eval, apply: (a: Obj, b: Obj, frame: Frame) => Result): Eval {
  const second = (a: Obj, frame: Frame): Result => {
    const b = right(frame);
    return b instanceof Promise ? b.then((later) => apply(a, later, frame)) : apply(a, b, frame);
  };
  return (frame) => {
    const a = left(frame);
    return a instanceof Promise ? a.then((later) => second(later, frame)) : second(a, frame);
  };
}

/** All values, one after another. */
export function evaluateAll(evals: readonly Eval[], frame: Frame): Maybe<Obj[]> {
  const values: Obj[] = [];
  for (let i = 0; i < evals.length; i++) {
    const value = evals[i](frame);
    if (value instanceof Promise) return evaluateRest(evals, frame, values, value);
    values.push(value);
  }
  return values;
}

async function evaluateRest(
  evals: readonly Eval[],
  frame: Frame,
  values: Obj[],
  pending: Promise<Obj>,
): Promise<Obj[]> {
  values.push(await pending);
  while (values.length < evals.length) values.push(await evals[values.length](frame));
  return values;
}

/** Statements one after another, until one leaves the loop. */
export function sequence(execs: readonly Exec[]): Exec {
  if (execs.length === 0) return () => undefined;
  if (execs.length === 1) return execs[0];
  return (frame) => {
    for (let i = 0; i < execs.length; i++) {
      const flow = execs[i](frame);
      if (flow instanceof Promise) return resume(execs, i + 1, frame, flow);
      if (flow !== undefined) return flow;
    }
    return undefined;
  };
}

async function resume(execs: readonly Exec[], from: number, frame: Frame, pending: Promise<Flow>): Promise<Flow> {
  let flow = await pending;
  for (let i = from; flow === undefined && i < execs.length; i++) {
    const next = execs[i](frame);
    flow = next instanceof Promise ? await next : next;
  }
  return flow;
}

/** The results of `make` for each item, one after another. */
export function mapAll<T>(items: Iterator<T>, make: (item: T) => Result): Maybe<Obj[]> {
  const made: Obj[] = [];
  for (let next = items.next(); next.done !== true; next = items.next()) {
    const result = make(next.value);
    if (result instanceof Promise) return mapRest(items, make, { made, pending: result });
    made.push(result);
  }
  return made;
}

async function mapRest<T>(
  items: Iterator<T>,
  make: (item: T) => Result,
  { made, pending }: { readonly made: Obj[]; readonly pending: Promise<Obj> },
): Promise<Obj[]> {
  made.push(await pending);
  for (let next = items.next(); next.done !== true; next = items.next()) made.push(await make(next.value));
  return made;
}
