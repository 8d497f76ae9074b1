/**
 * Python's order of objects, `in`, and sorting.
 * @module
 */

import { findText } from "./find_text.ts";
import { compareStrings } from "#lib/values/value.ts";
import { dictHas } from "./dict.ts";
import { isEqual } from "./equality.ts";
import { pythonError } from "./errors.ts";
import { isIterable, iterate } from "./iterate.ts";
import { floatOf, intOf, textOf, typeNameOf } from "./kinds.ts";
import { type Obj, PyObject } from "./object.ts";
import { asSet, type PySet } from "./set.ts";
import { sameSequenceType } from "#lib/values/tuple.ts";

/** The operators of order. */
export type Order = "<" | "<=" | ">" | ">=";

/**
 * Whether `a operator b`.
 * @throws {PythonError} TypeError if Python has no order for both.
 */
export function compareByOperator(operator: Order, a: Obj, b: Obj): boolean {
  const numberA = intOf(a) ?? floatOf(a), numberB = intOf(b) ?? floatOf(b);
  if (numberA !== undefined && numberB !== undefined) {
    if (operator === "<") return numberA < numberB;
    if (operator === "<=") return numberA <= numberB;
    return operator === ">" ? numberA > numberB : numberA >= numberB;
  }
  if (a instanceof PyObject) a.checkOperand();
  if (b instanceof PyObject) b.checkOperand();
  const textA = textOf(a), textB = textOf(b);
  if (textA !== undefined && textB !== undefined) return bySign(operator, compareStrings(textA, textB));
  const setA = asSet(a), setB = asSet(b);
  if (setA !== undefined && setB !== undefined) return setsOrdered(operator, setA, setB);
  const itemsA = itemsOf(a, b), itemsB = itemsOf(b, a);
  if (itemsA !== undefined && itemsB !== undefined) {
    for (let i = 0; i < itemsA.length && i < itemsB.length; i++) {
      if (!isEqual(itemsA[i], itemsB[i])) return compareByOperator(operator, itemsA[i], itemsB[i]);
    }
    return bySign(operator, itemsA.length - itemsB.length);
  }
  throw pythonError(
    "TypeError",
    `'${operator}' not supported between instances of '${typeNameOf(a)}' and '${typeNameOf(b)}'`,
  );
}

/** The items that decide the order of `a` and `b`, if both are of one type. */
function itemsOf(a: Obj, b: Obj): ArrayLike<Obj> | undefined {
  if (Array.isArray(a)) return Array.isArray(b) && sameSequenceType(a, b) ? a : undefined;
  return a instanceof Uint8Array && b instanceof Uint8Array ? a : undefined;
}

function bySign(operator: Order, sign: number): boolean {
  if (operator === "<") return sign < 0;
  if (operator === "<=") return sign <= 0;
  return operator === ">" ? sign > 0 : sign >= 0;
}

function setsOrdered(operator: Order, a: PySet, b: PySet): boolean {
  if (operator === ">" || operator === ">=") return setsOrdered(operator === ">" ? "<" : "<=", b, a);
  return a.items().every((item) => b.has(item)) && (operator === "<=" || a.length() < b.length());
}

/**
 * Python's `item in container`.
 * @throws {PythonError} TypeError, also for a container that answers only asynchronously.
 */
export function contains(container: Obj, item: Obj): boolean {
  const answer = contained(container, item);
  if (answer instanceof Promise) {
    throw pythonError("TypeError", `'${typeNameOf(container)}' object cannot be searched at once`);
  }
  return answer;
}

/** Like {@linkcode contains}, for code that may wait for a function of the host. */
export function contained(container: Obj, item: Obj): boolean | Promise<boolean> {
  const text = textOf(container);
  if (text !== undefined) {
    const part = textOf(item);
    if (part !== undefined) return findText(text, part) >= 0;
    throw pythonError("TypeError", `'in <string>' requires string as left operand, not ${typeNameOf(item)}`);
  }
  if (container instanceof Map) return dictHas(container, item);
  if (container instanceof Uint8Array && item instanceof Uint8Array) {
    return item.length === 0 || container.some((_, at) => item.every((byte, i) => container[at + i] === byte));
  }
  const set = asSet(container);
  if (set !== undefined) return set.has(item);
  if (container instanceof PyObject) {
    const answer = container.contains(item);
    if (answer !== undefined) return answer;
  }
  if (!isIterable(container)) {
    throw pythonError("TypeError", `argument of type '${typeNameOf(container)}' is not iterable`);
  }
  const items = iterate(container);
  for (let next = items.next(); next.done !== true; next = items.next()) {
    if (next.value === item || isEqual(next.value, item)) return true;
  }
  return false;
}

/**
 * Python's `sorted` by precomputed keys; stable.
 * @throws {PythonError} TypeError if two have no order.
 */
export function sortBy<T>(items: readonly { readonly key: Obj; readonly item: T }[], reverse: boolean): T[] {
  const sorted = [...items].sort((a, b) => {
    // Python asks "<" alone; the engine gives the later one first.
    const [first, second] = reverse ? [b.key, a.key] : [a.key, b.key];
    if (compareByOperator("<", first, second)) return -1;
    return compareByOperator("<", second, first) ? 1 : 0;
  });
  return sorted.map(({ item }) => item);
}
