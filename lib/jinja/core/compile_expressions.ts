/**
 * Makes closures of expressions.
 * Source: jinja2 3.1, "compiler".
 * @module
 */

import { syntaxError } from "#lib/jinja/syntax/errors.ts";
import type { Operator } from "#lib/python/arithmetic.ts";
import { compareByOperator, contained } from "#lib/python/compare.ts";
import { dictSet } from "#lib/python/dict.ts";
import { isEqual } from "#lib/python/equality.ts";
import { isTruthy } from "#lib/python/kinds.ts";
import type { Obj, ObjMap, Result } from "#lib/python/object.ts";
import { binary, unary } from "#lib/python/operators.ts";
import { slice } from "#lib/python/subscript.ts";
import { Tuple } from "#lib/values/tuple.ts";
import type { BinaryNode, CompareOperator, Expr, ExprOf, UnaryNode } from "#lib/jinja/syntax/nodes.ts";
import { joiner } from "./autoescape.ts";
import { compileCall, compileFilter, compileTest } from "./compile_calls.ts";
import type { Eval } from "./frame.ts";
import { binaryEval, evaluateAll, then, unaryEval } from "./results.ts";
import { readSlot, type Scope } from "./scope.ts";
import { Undefined } from "./undefined.ts";

const BINARY: ReadonlyMap<string, Operator> = new Map([
  ["Add", "+"],
  ["Sub", "-"],
  ["Mul", "*"],
  ["Div", "/"],
  ["FloorDiv", "//"],
  ["Mod", "%"],
  ["Pow", "**"],
]);

/** The closure of an expression. */
export function compileExpression(node: Expr, scope: Scope): Eval {
  switch (node.type) {
    case "Name":
    case "NSRef":
      return compileName(node.name, scope);
    case "Const":
      return constant(node.value);
    case "TemplateData":
      return constant(node.data);
    case "Tuple":
      return compileItems(node.items, scope, (items) => new Tuple(items));
    case "List":
      return compileItems(node.items, scope, (items) => items);
    case "Dict":
      return compileDict(node, scope);
    case "CondExpr":
      return compileCondition(node, scope);
    case "Filter":
      return compileFilter(node, scope);
    case "Test":
      return compileTest(node, scope);
    case "Call":
      return compileCall(node, scope);
    case "Getattr":
      return compileAttribute(node, scope);
    case "Getitem":
      return node.arg.type === "Slice" ? compileSlice(node, node.arg, scope) : compileItem(node, scope);
    case "Slice":
      // Python does not compile what Jinja makes of it: a slice stands alone between its brackets.
      throw syntaxError("invalid syntax", node, "SyntaxError");
    case "Concat":
      return compileItems(node.nodes, scope, joiner(scope), node);
    case "Compare":
      return compileCompare(node, scope);
    case "And":
    case "Or":
      return compileLogic(node, scope);
    case "Not":
      return compileNot(node, scope);
    case "Neg":
    case "Pos":
      return compileSign(node, scope);
    case "HostCall": {
      const args = node.args.map((arg) => scope.expression(arg));
      const at = scope.position(node);
      return (frame) =>
        then(evaluateAll(args, frame), (values) => {
          frame.at = at;
          return node.run(values, new Map(), frame);
        });
    }
    default:
      return compileBinary(node, scope);
  }
}

function constant(value: Obj): Eval {
  return () => value;
}

function compileName(name: string, scope: Scope): Eval {
  const read = readSlot(scope, scope.slot(name));
  return (frame) => {
    const value = read(frame);
    return value === undefined ? frame.undefinedName(name) : value;
  };
}

function compileItems(nodes: readonly Expr[], scope: Scope, make: (items: Obj[]) => Obj, at?: Expr): Eval {
  const evals = nodes.map((item) => scope.expression(item));
  const position = at === undefined ? undefined : scope.position(at);
  return (frame) => {
    const items = evaluateAll(evals, frame);
    if (position !== undefined) frame.at = position;
    return items instanceof Promise ? items.then(make) : make(items);
  };
}

function compileDict(node: ExprOf<"Dict">, scope: Scope): Eval {
  const evals = node.items.flatMap(({ key, value }) => [scope.expression(key), scope.expression(value)]);
  const at = scope.position(node);
  return (frame) =>
    then(evaluateAll(evals, frame), (values) => {
      const map: ObjMap = new Map();
      frame.at = at;
      for (let i = 0; i < values.length; i += 2) dictSet(map, values[i], values[i + 1]);
      return map;
    });
}

function compileCondition(node: ExprOf<"CondExpr">, scope: Scope): Eval {
  const soft = scope.soft();
  const test = soft.expression(node.test);
  const yes = soft.expression(node.expr1);
  const { line } = node;
  const no: Eval = node.expr2 === null
    ? (frame) => {
      const place = frame.source.name === undefined ? `line ${line}` : `line ${line} in '${frame.source.name}'`;
      const hint = `the inline if-expression on ${place} evaluated to false and no else section was defined.`;
      return new Undefined({ kind: "default", hint });
    }
    : soft.expression(node.expr2);
  const at = scope.position(node.test);
  return unaryEval(test, (value, frame) => {
    frame.at = at;
    return isTruthy(value) ? yes(frame) : no(frame);
  });
}

function compileLogic(node: BinaryNode, scope: Scope): Eval {
  const isAnd = node.type === "And";
  const right = scope.expression(node.right);
  const at = scope.position(node.left);
  return unaryEval(scope.expression(node.left), (value, frame) => {
    frame.at = at;
    return isTruthy(value) === isAnd ? right(frame) : value;
  });
}

function compileNot(node: UnaryNode, scope: Scope): Eval {
  const at = scope.position(node);
  return unaryEval(scope.expression(node.node), (value, frame) => {
    frame.at = at;
    return !isTruthy(value);
  });
}

function compileSign(node: UnaryNode, scope: Scope): Eval {
  const at = scope.position(node);
  return unaryEval(scope.expression(node.node), (value, frame) => {
    frame.at = at;
    return unary(node.type === "Neg" ? "-" : "+", value);
  });
}

function compileBinary(node: BinaryNode, scope: Scope): Eval {
  const operator = BINARY.get(node.type) ?? "+";
  const at = scope.position(node);
  return binaryEval(scope.expression(node.left), scope.expression(node.right), (a, b, frame) => {
    frame.at = at;
    return binary(operator, a, b, frame);
  });
}

const COMPARE: Readonly<Record<CompareOperator, (a: Obj, b: Obj) => boolean | Promise<boolean>>> = {
  eq: isEqual,
  ne: (a, b) => !isEqual(a, b),
  lt: (a, b) => compareByOperator("<", a, b),
  lteq: (a, b) => compareByOperator("<=", a, b),
  gt: (a, b) => compareByOperator(">", a, b),
  gteq: (a, b) => compareByOperator(">=", a, b),
  in: (a, b) => contained(b, a),
  notin: (a, b) => then(contained(b, a), (answer) => !answer),
};

function compileCompare(node: ExprOf<"Compare">, scope: Scope): Eval {
  const at = scope.position(node.expr);
  const first = scope.expression(node.expr);
  const steps = node.ops.map(({ op, expr }) => ({ compare: COMPARE[op], operand: scope.expression(expr) }));
  if (steps.length === 1) {
    const [{ compare, operand }] = steps;
    return binaryEval(first, operand, (a, b, frame) => {
      frame.at = at;
      return compare(a, b);
    });
  }
  return unaryEval(first, (value, frame) => {
    const step = (a: Obj, i: number): Result =>
      then(steps[i].operand(frame), (b) => {
        frame.at = at;
        return then(
          steps[i].compare(a, b),
          (answer): Result => answer && i + 1 < steps.length ? step(b, i + 1) : answer,
        );
      });
    return step(value, 0);
  });
}

function compileAttribute(node: ExprOf<"Getattr">, scope: Scope): Eval {
  const { attr } = node;
  const at = scope.position(node);
  return unaryEval(scope.expression(node.node), (value, frame) => {
    frame.at = at;
    return frame.context.environment.attribute(value, attr);
  });
}

function compileItem(node: ExprOf<"Getitem">, scope: Scope): Eval {
  const at = scope.position(node);
  return binaryEval(scope.expression(node.node), scope.expression(node.arg), (value, key, frame) => {
    frame.at = at;
    return frame.context.environment.item(value, key);
  });
}

function compileSlice(node: ExprOf<"Getitem">, { start, stop, step }: ExprOf<"Slice">, scope: Scope): Eval {
  const at = scope.position(node);
  const evals = [node.node, start, stop, step].map((part) => part === null ? constant(null) : scope.expression(part));
  return (frame) =>
    then(evaluateAll(evals, frame), ([value, from, to, by]) => {
      frame.at = at;
      return slice(value, from, to, by);
    });
}
