/**
 * Sets. Python's order of their items changes from run to run; here it is the order in which they were added.
 * @module
 */

import { dictHas, dictSet, dictTake } from "./dict.ts";
import { ValueSet } from "#lib/values/tuple.ts";
import { isEqual } from "./equality.ts";
import { pythonError } from "./errors.ts";
import { iterate, mapEntries } from "./iterate.ts";
import { type Obj, type ObjMap, PyObject } from "./object.ts";
import { reprItems, within } from "./repr.ts";

/** The sets of values, by value: one is made once. */
const OVER = new WeakMap<ValueSet<Obj>, PySet>();

/** Items of which no two are equal. */
export class PySet extends PyObject {
  readonly typeName = "set";
  readonly #items: ObjMap = new Map();
  /** The value whose items these are, if it is one. */
  #value: ValueSet<Obj> | undefined;

  /** @param items Added one by one. */
  constructor(items: Iterable<Obj> = []) {
    super();
    for (const item of items) this.add(item);
  }

  /**
   * The set that is the value `members`: what is added to it or removed is added there or removed, too.
   * @param members Of which no two are equal.
   */
  static over(members: ValueSet<Obj>): PySet {
    const known = OVER.get(members);
    if (known !== undefined) return known;
    const set = new PySet(members);
    set.#value = members;
    OVER.set(members, set);
    return set;
  }

  /** A set of the items of `obj`. */
  static from(obj: Obj): PySet {
    const set = new PySet();
    const items = iterate(obj);
    for (let next = items.next(); next.done !== true; next = items.next()) set.add(next.value);
    return set;
  }

  /**
   * Adds an item.
   * @throws {PythonError} TypeError if it is not hashable.
   */
  add(item: Obj): void {
    const { size } = this.#items;
    dictSet(this.#items, item, true);
    if (this.#items.size > size) this.#value?.push(item);
  }

  /** Whether it is in the set. */
  has(item: Obj): boolean {
    return dictHas(this.#items, item);
  }

  /**
   * Removes it.
   * @returns Whether it was there.
   */
  delete(item: Obj): boolean {
    const wasThere = dictTake(this.#items, item) !== undefined;
    const place = wasThere ? this.#value?.findIndex((member) => isEqual(member, item)) : undefined;
    if (place !== undefined) this.#value?.splice(place, 1);
    return wasThere;
  }

  clear(): void {
    this.#items.clear();
    this.#value?.splice(0);
  }

  /** All that are in it, in the order in which they came. */
  items(): Obj[] {
    return [...this.#items.keys()];
  }

  override get iterable(): boolean {
    return true;
  }

  override iterate(): Iterator<Obj> {
    return mapEntries(this.#items, (item) => item);
  }

  override length(): number {
    return this.#items.size;
  }

  override equals(other: Obj): boolean | undefined {
    const set = asSet(other);
    if (set === undefined) return undefined;
    return set.length() === this.length() && this.items().every((item) => set.has(item));
  }

  override checkHashable(): void {
    throw pythonError("TypeError", "unhashable type: 'set'");
  }

  override repr(): string {
    if (this.#items.size === 0) return "set()";
    return within(this, () => `{${reprItems(this.#items.keys())}}`, "set(...)");
  }
}

/** The set that `obj` is, as a value or as an object of a template; `undefined` for anything else. */
export function asSet(obj: Obj): PySet | undefined {
  if (obj instanceof PySet) return obj;
  return obj instanceof ValueSet ? PySet.over(obj) : undefined;
}
