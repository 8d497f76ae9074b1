/**
 * Python's `itertools` as Salt's filters: combinations, permutations, products, zips. Each gives a generator, so that
 * only what a template reads is made. Source: docs.python.org, "itertools".
 * @module
 */

import { pythonError } from "#lib/python/errors.ts";
import { iterate, toList } from "#lib/python/iterate.ts";
import { indexOf, isTruthy } from "#lib/python/kinds.ts";
import type { Kwargs, Obj, Run } from "#lib/python/object.ts";
import { Tuple } from "#lib/values/tuple.ts";
import { PyIterator } from "#lib/python/views.ts";
import { handlingUndefined } from "./undefined_inside.ts";

/** Combinations of `size` indexes out of `count`. */
type Choices = (count: number, size: number) => Generator<readonly number[]>;

/** @param from The first place that may follow a chosen one: the same again, or the next. */
function* ascending(count: number, size: number, from: (place: number) => number): Generator<readonly number[]> {
  const chosen: number[] = [];
  const next = function* (start: number): Generator<readonly number[]> {
    if (chosen.length === size) {
      yield [...chosen];
      return;
    }
    for (let place = start; place < count; place++) {
      chosen.push(place);
      yield* next(from(place));
      chosen.pop();
    }
  };
  yield* next(0);
}

const combinations: Choices = (count, size) => ascending(count, size, (place) => place + 1);
const combinationsWithReplacement: Choices = (count, size) => ascending(count, size, (place) => place);

function* permutations(count: number, size: number): Generator<readonly number[]> {
  const chosen: number[] = [];
  const next = function* (): Generator<readonly number[]> {
    if (chosen.length === size) {
      yield [...chosen];
      return;
    }
    for (let place = 0; place < count; place++) {
      if (chosen.includes(place)) continue;
      chosen.push(place);
      yield* next();
      chosen.pop();
    }
  };
  yield* next();
}

/** Maximum number of chosen items: each is a level of recursion. */
const DEEPEST = 500;

function chooser(name: string, choices: Choices, options: { readonly sizeRequired: boolean }): [string, Run] {
  return [
    name,
    handlingUndefined((args, kwargs) => {
      const items = toList(args[0]);
      const given = args[1] ?? kwargs.get("r");
      if (given === undefined && options.sizeRequired) {
        throw pythonError("TypeError", `${name}() missing required argument 'r' (pos 2)`);
      }
      const size = given === undefined || given === null ? items.length : indexOf(given);
      if (size < 0) throw pythonError("ValueError", "r must be non-negative");
      if (size > DEEPEST) throw pythonError("RecursionError", `${name}() of more than ${DEEPEST} items`);
      const iterate = function* (): Generator<Obj> {
        for (const places of choices(items.length, size)) yield new Tuple(places.map((place) => items[place]));
      };
      return new PyIterator(iterate(), `itertools.${name}`);
    }),
  ];
}

function* products(lists: readonly (readonly Obj[])[]): Generator<readonly Obj[]> {
  if (lists.length === 0) {
    yield [];
    return;
  }
  const [first, ...rest] = lists;
  for (const item of first) for (const more of products(rest)) yield [item, ...more];
}

function product(args: readonly Obj[], kwargs: Kwargs): Obj {
  const repeat = indexOf(kwargs.get("repeat") ?? 1);
  if (repeat < 0) throw pythonError("ValueError", "repeat argument cannot be negative");
  const lists = args.map(toList);
  if (lists.length * repeat > DEEPEST) throw pythonError("RecursionError", `product() of more than ${DEEPEST} lists`);
  const repeated = Array.from({ length: repeat }, () => lists).flat();
  const iterate = function* (): Generator<Obj> {
    for (const items of products(repeated)) yield new Tuple(items);
  };
  return new PyIterator(iterate(), "itertools.product");
}

/** Tuples of an item of each; ends with the shortest, or with the longest if there is a `fill`. */
function* zip(args: readonly Obj[], fill: Obj | undefined): Generator<Obj> {
  const iterators = args.map(iterate);
  while (iterators.length > 0) {
    const items = iterators.map((iterator) => iterator.next());
    const ended = items.filter(({ done }) => done === true).length;
    if (fill === undefined ? ended > 0 : ended === items.length) return;
    yield new Tuple(items.map(({ done, value }) => done === true ? fill ?? null : value));
  }
}

function* compress(data: Obj, selectors: Obj): Generator<Obj> {
  const items = iterate(data), marks = iterate(selectors);
  for (let item = items.next(), mark = marks.next(); item.done !== true && mark.done !== true;) {
    if (isTruthy(mark.value)) yield item.value;
    item = items.next();
    mark = marks.next();
  }
}

/** The filters by name. */
export const ITERATOR_FILTERS: ReadonlyMap<string, Run> = new Map<string, Run>([
  chooser("combinations", combinations, { sizeRequired: true }),
  chooser("combinations_with_replacement", combinationsWithReplacement, { sizeRequired: true }),
  chooser("permutations", permutations, { sizeRequired: false }),
  ["product", handlingUndefined(product)],
  ["zip", handlingUndefined((args) => new PyIterator(zip(args, undefined), "zip"))],
  [
    "zip_longest",
    handlingUndefined((args, kwargs) => {
      return new PyIterator(zip(args, kwargs.get("fillvalue") ?? null), "itertools.zip_longest");
    }),
  ],
  [
    "compress",
    handlingUndefined((args, kwargs) => {
      const selectors = args[1] ?? kwargs.get("selectors");
      if (selectors === undefined) {
        throw pythonError("TypeError", "compress() missing required argument 'selectors' (pos 2)");
      }
      return new PyIterator(compress(args[0], selectors), "itertools.compress");
    }),
  ],
]);
