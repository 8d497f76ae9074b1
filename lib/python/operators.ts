/**
 * Python's operators on any objects.
 * @module
 */

import { joinBytes } from "#lib/values/join_bytes.ts";
import { arithmetic, negate, type Operator } from "./arithmetic.ts";
import { checkItems, checkText, pythonError } from "./errors.ts";
import { floatOf, indexOf, intOf, textOf, typeNameOf } from "./kinds.ts";
import { escapeHtml } from "#lib/text/html.ts";
import { Markup } from "./markup.ts";
import { type CallContext, type Obj, PyObject } from "./object.ts";
import { formatPercent } from "./percent_format.ts";
import { asSet, PySet } from "./set.ts";
import { sameSequenceType, sequenceLike, ValueSet } from "#lib/values/tuple.ts";

/**
 * The result of `a operator b`.
 * @throws {PythonError} As Python does.
 */
export function binary(operator: Operator, a: Obj, b: Obj, context: CallContext): Obj {
  const number = arithmetic(operator, a, b);
  if (number !== undefined) return number;
  if (a instanceof PyObject) a.checkOperand();
  if (b instanceof PyObject && !(operator === "%" && textOf(a) !== undefined)) b.checkOperand();
  if (operator === "+") return add(a, b);
  if (operator === "*") return multiply(a, b);
  const setA = operator === "-" ? asSet(a) : undefined, setB = asSet(b);
  if (setA !== undefined && setB !== undefined) return new PySet(setA.items().filter((item) => !setB.has(item)));
  const template = operator === "%" ? textOf(a) : undefined;
  if (template !== undefined) {
    return a instanceof Markup
      ? new Markup(formatPercent(template, b, context, escapeHtml))
      : formatPercent(template, b, context);
  }
  throw unsupportedOperands(operator === "**" ? "** or pow()" : operator, a, b);
}

function unsupportedOperands(operator: string, a: Obj, b: Obj): Error {
  return pythonError(
    "TypeError",
    `unsupported operand type(s) for ${operator}: '${typeNameOf(a)}' and '${typeNameOf(b)}'`,
  );
}

function add(a: Obj, b: Obj): Obj {
  if (typeof a === "string" && typeof b === "string") {
    checkText(a.length + b.length);
    return a + b;
  }
  if (isSequence(a) && Array.isArray(a) && Array.isArray(b) && sameSequenceType(a, b)) {
    checkItems(a.length + b.length);
    return sequenceLike(a, [...a, ...b]);
  }
  if (a instanceof Markup || b instanceof Markup) {
    const left = safeText(a), right = safeText(b);
    if (left !== undefined && right !== undefined) {
      checkText(left.length + right.length);
      return new Markup(left + right);
    }
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) return joinBytes([a, b]);
  const type = typeNameOf(a);
  if (typeof a === "string" || type === "list" || type === "tuple") {
    throw pythonError("TypeError", `can only concatenate ${type} (not "${typeNameOf(b)}") to ${type}`);
  }
  throw unsupportedOperands("+", a, b);
}

/** The text of a str, escaped if it is not marked. */
function safeText(obj: Obj): string | undefined {
  return obj instanceof Markup ? obj.text : typeof obj === "string" ? escapeHtml(obj) : undefined;
}

function multiply(a: Obj, b: Obj): Obj {
  const [sequence, count] = isSequence(a) ? [a, b] : [b, a];
  if (!isSequence(sequence)) throw unsupportedOperands("*", a, b);
  if (intOf(count) === undefined) {
    throw pythonError("TypeError", `can't multiply sequence by non-int of type '${typeNameOf(count)}'`);
  }
  const times = Math.max(0, indexOf(count));
  if (times === Number.MAX_SAFE_INTEGER) {
    throw pythonError("OverflowError", "cannot fit 'int' into an index-sized integer");
  }
  const text = textOf(sequence);
  if (text !== undefined) {
    checkText(text.length * times);
    return sequence instanceof Markup ? new Markup(text.repeat(times)) : text.repeat(times);
  }
  if (sequence instanceof Uint8Array) {
    checkText(sequence.length * times);
    return joinBytes(Array.from({ length: times }, () => sequence));
  }
  const items = sequence as Obj[];
  checkItems(items.length * times);
  const repeated: Obj[] = [];
  for (let i = 0; i < times; i++) for (const item of items) repeated.push(item);
  return sequenceLike(items, repeated);
}

function isSequence(obj: Obj): boolean {
  return textOf(obj) !== undefined || Array.isArray(obj) && !(obj instanceof ValueSet) || obj instanceof Uint8Array;
}

/** Python's `-obj` and `+obj`. */
export function unary(operator: "-" | "+", obj: Obj): Obj {
  if (obj instanceof PyObject) obj.checkOperand();
  const number = operator === "-" ? negate(obj) : intOf(obj) ?? (floatOf(obj) === undefined ? undefined : obj);
  if (number === undefined) {
    throw pythonError("TypeError", `bad operand type for unary ${operator}: '${typeNameOf(obj)}'`);
  }
  return number;
}
