/**
 * Makes closures of statements, and of a whole template.
 * Source: jinja2 3.1, "compiler".
 * @module
 */

import { strOf } from "#lib/python/repr.ts";
import { isTruthy } from "#lib/python/kinds.ts";
import { Markup } from "#lib/python/markup.ts";
import type { Obj } from "#lib/python/object.ts";
import { captor, compileAutoescape, printer } from "./autoescape.ts";
import { compileExport, compileNamespaceCheck, compileTarget } from "./compile_assign.ts";
import { compileFilter } from "./compile_calls.ts";
import { compileFromImport, compileImport, compileInclude } from "./compile_imports.ts";
import { compileBlockCall, compileExtends } from "./compile_inheritance.ts";
import { compileFor } from "./compile_loops.ts";
import { compileCallBlock, compileMacro } from "./compile_macros.ts";
import { syntaxError } from "#lib/jinja/syntax/errors.ts";
import type { Eval, Exec, Flow, Frame, Maybe } from "./frame.ts";
import { Output } from "./output.ts";
import type { Expr, Stmt, StmtOf } from "#lib/jinja/syntax/nodes.ts";
import { sequence, then } from "./results.ts";
import { enterScope, type Scope } from "./scope.ts";

/** The closure of statements. */
export function compileBody(nodes: readonly Stmt[], scope: Scope): Exec {
  return sequence(nodes.flatMap((node) => compileStatement(node, scope.at(node)) ?? []));
}

function compileStatement(node: Stmt, scope: Scope): Exec | undefined {
  switch (node.type) {
    case "Output":
      return compileOutput(node, scope);
    case "If":
      return compileIf(node, scope);
    case "For":
      return compileFor(node, scope);
    case "Assign":
      return compileAssign(node, scope);
    case "AssignBlock":
      return compileAssignBlock(node, scope);
    case "ExprStmt": {
      const evaluate = scope.expression(node.node);
      return (frame) => then(evaluate(frame), () => undefined);
    }
    case "With":
      return compileWith(node, scope);
    case "Macro":
      return compileMacro(node, scope);
    case "CallBlock":
      return compileCallBlock(node, scope);
    case "FilterBlock":
      return compileFilterBlock(node, scope);
    case "Block":
      return compileBlockCall(node, scope);
    case "Extends":
      return compileExtends(node, scope);
    case "Include":
      return compileInclude(node, scope);
    case "Import":
      return compileImport(node, scope);
    case "FromImport":
      return compileFromImport(node, scope);
    case "Break":
      if (!scope.inLoop) throw syntaxError("'break' outside loop", node, "SyntaxError");
      return () => "break";
    case "Continue":
      if (!scope.inLoop) throw syntaxError("'continue' not properly in loop", node, "SyntaxError");
      return () => "continue";
    case "Scope":
      return compileScope(node, scope);
    case "ScopedEvalContextModifier":
      return compileAutoescape(node, scope);
  }
}

function compileOutput(node: StmtOf<"Output">, scope: Scope): Exec | undefined {
  if (scope.checksOutput && scope.progress.knownExtends) return undefined;
  const writes = sequence(node.nodes.map((child) => compileWrite(child, scope.at(child))));
  if (!scope.checksOutput) return writes;
  return (frame) => frame.inheritance.extended ? undefined : writes(frame);
}

function compileWrite(node: Expr, scope: Scope): Exec {
  const at = scope.position(node);
  if (node.type === "TemplateData") {
    const { data } = node;
    return (frame) => {
      frame.out.write(data, { source: frame.source, at, literal: true });
      return undefined;
    };
  }
  const evaluate = scope.expression(node);
  const start = scope.position(startOf(node));
  const text = printer(scope);
  const write = (value: Obj, frame: Frame): undefined => {
    frame.at = at;
    const { finalize } = frame.context.environment;
    frame.out.write(text(finalize === undefined ? value : finalize(value), frame), {
      source: frame.source,
      at: start,
      literal: false,
    });
    return undefined;
  };
  return (frame) => {
    const value = evaluate(frame);
    return value instanceof Promise ? value.then((later) => write(later, frame)) : write(value, frame);
  };
}

/** The first part of an expression: an operator has its own place. */
function startOf(node: Expr): Expr {
  switch (node.type) {
    case "Filter":
    case "Test":
    case "Call":
    case "Getattr":
    case "Getitem":
      return node.node === null ? node : startOf(node.node);
    case "CondExpr":
      return startOf(node.expr1);
    case "Compare":
      return startOf(node.expr);
    case "Tuple":
      return node.items.length === 0 ? node : startOf(node.items[0]);
    default:
      return "left" in node ? startOf(node.left) : node;
  }
}

function compileIf(node: StmtOf<"If">, scope: Scope): Exec {
  const soft = scope.soft();
  const branches = [node, ...node.elif].map(({ test, body, line, column }) => {
    const at = soft.at({ line, column });
    return { test: at.expression(test), position: at.position(test), body: soft.body(body) };
  });
  const orElse = soft.body(node.orElse);
  const decide = (value: Obj, frame: Frame, i: number): Maybe<Flow> => {
    frame.at = branches[i].position;
    return isTruthy(value) ? branches[i].body(frame) : run(frame, i + 1);
  };
  const run = (frame: Frame, i: number): Maybe<Flow> => {
    if (i === branches.length) return orElse(frame);
    const value = branches[i].test(frame);
    return value instanceof Promise ? value.then((later) => decide(later, frame, i)) : decide(value, frame, i);
  };
  return (frame) => run(frame, 0);
}

function compileAssign(node: StmtOf<"Assign">, scope: Scope): Exec {
  const check = compileNamespaceCheck(node.target, scope);
  const evaluate = scope.expression(node.node);
  const assign = compileTarget(node.target, scope);
  const publish = compileExport(node.target, scope);
  const at = scope.position(node);
  const finish = (value: Obj, frame: Frame): undefined => {
    assign(frame, value);
    publish?.(frame);
    return undefined;
  };
  return (frame) => {
    if (check !== undefined) {
      frame.at = at;
      check(frame);
    }
    const value = evaluate(frame);
    return value instanceof Promise ? value.then((later) => finish(later, frame)) : finish(value, frame);
  };
}

/** The result of `use` for the text that `body` writes. If the body leaves the loop, `use` is not called. */
function captureBody(body: Exec, frame: Frame, use: () => Maybe<Flow>): Maybe<Flow> {
  const before = frame.out;
  const out = new Output();
  frame.out = out;
  return then(body(frame), (flow) => {
    frame.out = before;
    frame.captured = out.text;
    return flow === undefined ? use() : flow;
  });
}

function compileAssignBlock(node: StmtOf<"AssignBlock">, scope: Scope): Exec {
  const inner = scope.inner({ checksOutput: false });
  inner.symbols.visitAll(node.body);
  const body = inner.body(node.body);
  const enter = enterScope(inner);
  const assign = compileTarget(node.target, scope);
  const publish = compileExport(node.target, scope);
  const capture = captor(inner);
  const text: Eval = (frame) => capture(frame.captured, frame);
  const filter = node.filter?.type === "Filter" ? compileFilter(node.filter, inner, text) : text;
  return (frame) => {
    enter(frame);
    return captureBody(body, frame, () =>
      then(filter(frame), (value) => {
        assign(frame, frame.autoescape && !(value instanceof Markup) ? new Markup(strOf(value)) : value);
        publish?.(frame);
        return undefined;
      }));
  };
}

function compileFilterBlock(node: StmtOf<"FilterBlock">, scope: Scope): Exec {
  const inner = scope.inner();
  inner.symbols.visit(node.filter);
  inner.symbols.visitAll(node.body);
  const body = inner.body(node.body);
  const enter = enterScope(inner);
  const at = scope.position(node);
  const capture = captor(inner);
  const text: Eval = (frame) => capture(frame.captured, frame);
  const filter = node.filter.type === "Filter" ? compileFilter(node.filter, inner, text) : text;
  return (frame) => {
    enter(frame);
    return captureBody(body, frame, () =>
      then(filter(frame), (value) => {
        frame.out.write(strOf(value), { source: frame.source, at, literal: false });
        return undefined;
      }));
  };
}

function compileWith(node: StmtOf<"With">, scope: Scope): Exec {
  const inner = scope.inner();
  inner.symbols.visitAll(node.targets);
  inner.symbols.visitAll(node.body);
  const steps = node.targets.map((target, i) => ({
    evaluate: scope.expression(node.values[i]),
    assign: compileTarget(target, inner),
  }));
  const assigns = sequence(steps.map(({ evaluate, assign }): Exec => (frame) =>
    then(evaluate(frame), (value) => {
      assign(frame, value);
      return undefined;
    })
  ));
  const body = inner.body(node.body);
  const enter = enterScope(inner);
  return sequence([
    (frame) => {
      enter(frame);
      return undefined;
    },
    assigns,
    body,
  ]);
}

function compileScope(node: StmtOf<"Scope">, scope: Scope): Exec {
  const inner = scope.inner();
  inner.symbols.visitAll(node.body);
  const body = inner.body(node.body);
  const enter = enterScope(inner);
  return (frame) => {
    enter(frame);
    return body(frame);
  };
}
