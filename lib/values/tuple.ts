/**
 * Python's tuple. It is a list of JavaScript, so what crosses the wire or is written as JSON or YAML is a list, as
 * Python's libraries do it; text, order, equality and the methods of templates see the difference. So is Python's set,
 * which YAML's `!!set` gives.
 * Source: docs.python.org, "Tuples", "Set Types"; salt/payload.py for sets on the wire.
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

/** A set, whose items are all different, in the order in which its members were added. */
export class ValueSet<T> extends Array<T> {
  /** What `map`, `slice` and the like make of it is a list. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  /** @param members Of which no two are equal. */
  constructor(members: readonly T[] = []) {
    super(members.length);
    for (let i = 0; i < members.length; i++) this[i] = members[i];
  }
}

/** Whether `value` is a list of Python: no tuple and no set. */
export function isList<T>(value: T): value is Extract<T, readonly unknown[]> {
  return Array.isArray(value) && !(value instanceof Tuple) && !(value instanceof ValueSet);
}

/** A list of `items`, or a tuple or a set if `like` is one. */
export function sequenceLike<T>(like: readonly unknown[], items: T[]): T[] {
  if (like instanceof Tuple) return new Tuple(items);
  return like instanceof ValueSet ? new ValueSet(items) : items;
}

/** Python's type of a list of JavaScript. */
export function sequenceTypeName(items: readonly unknown[]): "tuple" | "set" | "list" {
  if (items instanceof Tuple) return "tuple";
  return items instanceof ValueSet ? "set" : "list";
}

/** Whether both are lists, both tuples or both sets. */
export function sameSequenceType(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a instanceof Tuple === b instanceof Tuple && a instanceof ValueSet === b instanceof ValueSet;
}
