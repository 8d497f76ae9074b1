/**
 * All of Jinja's own tests.
 * Source: jinja2 3.1, "List of Builtin Tests".
 * @module
 */

import { compareByOperator, contains, type Order } from "#lib/python/compare.ts";
import { isEqual } from "#lib/python/equality.ts";
import { isIterable } from "#lib/python/iterate.ts";
import { floatOf, intOf, isNumberObject, textOf } from "#lib/python/kinds.ts";
import { Markup } from "#lib/python/markup.ts";
import { native } from "#lib/python/native.ts";
import { type CallContext, type Obj, PyObject, type Run } from "#lib/python/object.ts";
import { binary } from "#lib/python/operators.ts";
import { strOf } from "#lib/python/repr.ts";
import { isLower, isUpper } from "#lib/text/text_case.ts";
import { PyRange } from "#lib/python/views.ts";
import { isSafe } from "./autoescape.ts";
import { Undefined } from "./undefined.ts";

function test(name: string, accepts: (value: Obj, context: CallContext) => boolean): [string, Run] {
  return [name, native(`test_${name}`, ["value"], ([value], { context }) => accepts(value, context))];
}

function compare(names: readonly string[], accepts: (a: Obj, b: Obj) => boolean): [string, Run][] {
  return names.map((name) => [name, native(name, ["a", "b"], ([a, b]) => accepts(a, b))]);
}

function order(operator: Order, ...names: readonly string[]): [string, Run][] {
  return compare([operator, ...names], (a, b) => compareByOperator(operator, a, b));
}

/** `value % number == rest` */
function leaves(value: Obj, number: Obj, rest: number, context: CallContext): boolean {
  return isEqual(binary("%", value, number, context), rest);
}

/** Whether it has a length and items by index or key. */
function isSequence(value: Obj): boolean {
  if (value instanceof Undefined) return value.what.kind === "default";
  if (value instanceof PyObject) return value instanceof PyRange || value instanceof Markup;
  return typeof value === "string" || Array.isArray(value) || value instanceof Map || value instanceof Uint8Array;
}

/** The tests by name. */
export const JINJA_TESTS: ReadonlyMap<string, Run> = new Map<string, Run>([
  test("odd", (value, context) => leaves(value, 2, 1, context)),
  test("even", (value, context) => leaves(value, 2, 0, context)),
  [
    "divisibleby",
    native("test_divisibleby", ["value", "num"], ([value, num], { context }) => leaves(value, num, 0, context)),
  ],
  test("defined", (value) => !(value instanceof Undefined)),
  test("undefined", (value) => value instanceof Undefined),
  test("filter", (value, context) => context.has("filter", textOf(value) ?? "")),
  test("test", (value, context) => context.has("test", textOf(value) ?? "")),
  test("none", (value) => value === null),
  test("boolean", (value) => typeof value === "boolean"),
  test("false", (value) => value === false),
  test("true", (value) => value === true),
  test("integer", (value) => typeof value !== "boolean" && intOf(value) !== undefined),
  test("float", (value) => floatOf(value) !== undefined),
  test("lower", (value) => isLower(strOf(value))),
  test("upper", (value) => isUpper(strOf(value))),
  test("string", (value) => textOf(value) !== undefined),
  test("mapping", (value) => value instanceof Map),
  test("number", isNumberObject),
  test("sequence", isSequence),
  test("iterable", isIterable),
  test("callable", (value) => value instanceof PyObject && value.callable),
  ["sameas", native("test_sameas", ["value", "other"], ([value, other]) => value === other)],
  test("escaped", isSafe),
  ["in", native("test_in", ["value", "seq"], ([value, seq]) => contains(seq, value))],
  ...compare(["==", "eq", "equalto"], isEqual),
  ...compare(["!=", "ne"], (a, b) => !isEqual(a, b)),
  ...order(">", "gt", "greaterthan"),
  ...order(">=", "ge"),
  ...order("<", "lt", "lessthan"),
  ...order("<=", "le"),
]);
