/**
 * Sets. Python's order of their items changes from run to run; here it is the order in which they were added.
 * @module
 */

import { dictHas, dictSet, dictTake } from "./dict.ts";
import { pythonError } from "./errors.ts";
import { iterate, mapEntries } from "./iterate.ts";
import { type Obj, type ObjMap, PyObject } from "./object.ts";
import { reprItems, within } from "./repr.ts";

/** Items of which no two are equal. */
export class PySet extends PyObject {
  readonly typeName = "set";
  readonly #items: ObjMap = new Map();

  /** @param items Added one by one. */
  constructor(items: Iterable<Obj> = []) {
    super();
    for (const item of items) this.add(item);
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
    dictSet(this.#items, item, true);
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
    return dictTake(this.#items, item) !== undefined;
  }

  clear(): void {
    this.#items.clear();
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

  override contains(item: Obj): boolean {
    return this.has(item);
  }

  override equals(other: Obj): boolean | undefined {
    if (!(other instanceof PySet)) return undefined;
    return other.length() === this.length() && this.items().every((item) => other.has(item));
  }

  override checkHashable(): void {
    throw pythonError("TypeError", "unhashable type: 'set'");
  }

  override repr(): string {
    if (this.#items.size === 0) return "set()";
    return within(this, () => `{${reprItems(this.#items.keys())}}`, "set(...)");
  }
}
