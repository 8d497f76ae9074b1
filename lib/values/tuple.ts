/**
 * Python's tuple. It is a list of JavaScript, so what crosses the wire or is written as JSON or YAML is a list, as
 * Python's libraries do it; text, order, equality and the methods of templates see the difference.
 * Source: docs.python.org, "Tuples".
 * @module
 */

/** A tuple. Its items are not to be changed. */
export class Tuple<T> extends Array<T> {
  /** What `map`, `slice` and the like make of it is a list. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  /** @param items Copied. */
  constructor(items: readonly T[]) {
    // Made of its size and filled: adding one item after another takes ten times as long.
    super(items.length);
    for (let i = 0; i < items.length; i++) this[i] = items[i];
  }
}

/** A tuple whose first items have names too, as Python's `namedtuple`. */
export class NamedTuple<T> extends Tuple<T> {
  constructor(items: readonly T[], readonly names: readonly string[]) {
    super(items);
  }

  /** The item with that name. */
  named(name: string): T | undefined {
    const place = this.names.indexOf(name);
    return place < 0 ? undefined : this[place];
  }
}

/** Whether `value` is a list of Python, and no tuple. */
export function isList<T>(value: T): value is Extract<T, readonly unknown[]> {
  return Array.isArray(value) && !(value instanceof Tuple);
}

/** A list of `items`, or a tuple if `like` is one. */
export function sequenceLike<T>(like: readonly unknown[], items: T[]): T[] {
  return like instanceof Tuple ? new Tuple(items) : items;
}
