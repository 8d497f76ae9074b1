/**
 * Makes closures of `for`.
 * Source: jinja2 3.1, "compiler".
 * @module
 */

import { iterate } from "#lib/python/iterate.ts";
import { isTruthy } from "#lib/python/kinds.ts";
import type { Obj, Result } from "#lib/python/object.ts";
import { strOf } from "#lib/python/repr.ts";
import { captor } from "./autoescape.ts";
import { type Assign, compileTarget } from "./compile_assign.ts";
import { syntaxError } from "#lib/jinja/syntax/errors.ts";
import { type Eval, type Exec, type Flow, Frame, type FunctionCode, type Maybe } from "./frame.ts";
import { Output } from "./output.ts";
import { type Items, LoopContext } from "./loop.ts";
import { type Expr, findAll, type StmtOf } from "#lib/jinja/syntax/nodes.ts";
import { then } from "./results.ts";
import { enterScope, type Scope, writeSlot } from "./scope.ts";
import { undeclaredNames } from "#lib/jinja/syntax/symbols.ts";

/** The parts of a compiled loop. */
interface Loop {
  readonly assign: Assign;
  readonly enter: (frame: Frame) => void;
  readonly body: Exec;
  readonly orElse: Exec | undefined;
  readonly filtered: ((frame: Frame, items: Iterator<Obj>) => Items) | undefined;
  /** Sets the variable `loop`; without this function there is none. */
  readonly setLoop: ((frame: Frame, loop: Obj) => void) | undefined;
  /** Converts the text of a recursive loop to a value. */
  readonly captured: (text: string, frame: Frame) => Obj;
}

/** The closure of a loop. */
export function compileFor(node: StmtOf<"For">, scope: Scope): Exec {
  for (const name of findAll(node, "Name")) {
    if (name.ctx === "store" && name.name === "loop") {
      throw syntaxError("Can't assign to special loop variable in for-loop target", name, "TemplateAssertionError");
    }
  }
  const loop = compileLoop(node, scope);
  const iterable = scope.expression(node.iter);
  const at = scope.position(node);
  if (node.recursive) return compileRecursive(loop, iterable, { at, size: loop.size });
  return (frame) => {
    const value = iterable(frame);
    frame.at = at;
    return value instanceof Promise
      ? value.then((later) => runLoop(loop, frame, later, undefined))
      : runLoop(loop, frame, value, undefined);
  };
}

function compileLoop(node: StmtOf<"For">, scope: Scope): Loop & { readonly size: () => number } {
  const inner = scope.inner({ exports: "loop", ownFunction: node.recursive });
  const extended = node.recursive || undeclaredNames(node.body, ["loop"]).has("loop") ||
    [...findAll(node, "Block")].some(({ scoped }) => scoped);
  const loopSlot = extended ? inner.symbols.declare("loop") : undefined;
  inner.symbols.declareTarget(node.target);
  inner.symbols.visitAll(node.body);
  return {
    assign: compileTarget(node.target, inner),
    body: inner.body(node.body),
    enter: enterScope(inner),
    orElse: node.orElse.length === 0 ? undefined : compileElse(node, scope, inner),
    filtered: node.test === null ? undefined : compileTestOfLoop(node, node.test, node.recursive ? inner : scope),
    setLoop: loopSlot === undefined ? undefined : writeSlot(inner, loopSlot),
    captured: captor(inner),
    size: () => inner.symbols.scope.size,
  };
}

function compileElse(node: StmtOf<"For">, scope: Scope, loop: Scope): Exec {
  // If the loop is its own function, its `else` is one too.
  const orElse = node.recursive ? loop.inner() : scope.inner();
  orElse.symbols.visitAll(node.orElse);
  const body = orElse.body(node.orElse);
  const enter = enterScope(orElse);
  return (frame) => {
    enter(frame);
    return body(frame);
  };
}

/** The `if` of a loop: it has its own variables, because the loop may read the next item in the middle of its body. */
function compileTestOfLoop(node: StmtOf<"For">, condition: Expr, outer: Scope): NonNullable<Loop["filtered"]> {
  const inner = outer.inner({ ownFunction: true });
  inner.symbols.declareTarget(node.target);
  inner.symbols.visit(condition);
  const assign = compileTarget(node.target, inner);
  const test = inner.at(condition).expression(condition);
  const enter = enterScope(inner);
  const code: FunctionCode = { size: () => inner.symbols.scope.size, run: () => undefined };
  return (frame, items) => {
    const { context, source, out } = frame;
    const own = new Frame(code, { context, source, out, caller: frame, parent: frame });
    enter(own);
    const accepts = (item: Obj): Maybe<boolean> => {
      frame.step();
      assign(own, item);
      const value = test(own);
      frame.at = own.at;
      return value instanceof Promise ? value.then(isTruthy) : isTruthy(value);
    };
    return { next: () => nextAccepted(items, accepts) };
  };
}

function nextAccepted(items: Iterator<Obj>, accepts: (item: Obj) => Maybe<boolean>): Maybe<IteratorResult<Obj>> {
  while (true) {
    const next = items.next();
    if (next.done === true) return next;
    const accepted = accepts(next.value);
    if (accepted instanceof Promise) {
      return accepted.then((yes) => yes ? next : nextAccepted(items, accepts));
    }
    if (accepted) return next;
  }
}

/** How a recursive loop calls itself. */
type Recurse = (iterable: Obj, depth: number) => Result;

function runLoop(
  loop: Loop,
  frame: Frame,
  iterable: Obj,
  recursion: { recurse: Recurse; depth: number } | undefined,
): Maybe<Flow> {
  const all = iterate(iterable);
  const items = loop.filtered === undefined ? all : loop.filtered(frame, all);
  if (loop.setLoop === undefined) return runItems(loop, frame, items);
  const length = loop.filtered === undefined ? iterable : undefined;
  const context = new LoopContext(items, { sized: length, environment: frame.context.environment, ...recursion });
  loop.setLoop(frame, context);
  return runItems(loop, frame, context);
}

function runItems(loop: Loop, frame: Frame, items: Items): Maybe<Flow> {
  let passes = 0;
  const pass = (item: Obj): Maybe<Flow> => {
    frame.step();
    loop.assign(frame, item);
    loop.enter(frame);
    frame.loopVars = undefined;
    const flow = loop.body(frame);
    if (flow instanceof Promise) {
      return flow.then((later) => {
        if (later === undefined) passes++;
        return later;
      });
    }
    if (flow === undefined) passes++;
    return flow;
  };
  return then(eachItem(items, pass), () => {
    frame.loopVars = undefined;
    // As in Python's Jinja: a loop that was left in its first pass counts as empty.
    return passes === 0 && loop.orElse !== undefined ? loop.orElse(frame) : undefined;
  });
}

function eachItem(items: Items, pass: (item: Obj) => Maybe<Flow>): Maybe<void> {
  while (true) {
    const next = items.next();
    if (next instanceof Promise) return eachItemLater(items, pass, next, undefined);
    if (next.done === true) return;
    const flow = pass(next.value);
    if (flow instanceof Promise) return eachItemLater(items, pass, undefined, flow);
    if (flow === "break") return;
  }
}

async function eachItemLater(
  items: Items,
  pass: (item: Obj) => Maybe<Flow>,
  pendingItem: Promise<IteratorResult<Obj>> | undefined,
  pendingFlow: Promise<Flow> | undefined,
): Promise<void> {
  if (pendingFlow !== undefined && await pendingFlow === "break") return;
  let next = pendingItem === undefined ? items.next() : await pendingItem;
  while (true) {
    if (next instanceof Promise) next = await next;
    if (next.done === true) return;
    const flow = pass(next.value);
    if ((flow instanceof Promise ? await flow : flow) === "break") return;
    next = items.next();
  }
}

function compileRecursive(loop: Loop, iterable: Eval, { at, size }: { at: Frame["at"]; size: () => number }): Exec {
  return (frame) => {
    const recurse = (items: Obj, depth: number, caller: Frame): Result => {
      const { context, source } = frame;
      const code: FunctionCode = {
        size,
        run: (inside) =>
          runLoop(loop, inside, items, { recurse: (inner, deeper) => recurse(inner, deeper, inside), depth }),
      };
      const own = new Frame(code, { context, source, out: new Output(), caller, parent: frame });
      return then(own.run(code), () => loop.captured(own.out.text, own));
    };
    return then(iterable(frame), (items) => {
      frame.at = at;
      return then(recurse(items, 0, frame), (text) => {
        frame.out.write(strOf(text), { source: frame.source, at, literal: false });
        return undefined;
      });
    });
  };
}
