/**
 * Tuples.
 * @module
 */

import { checkHashable, sequencesEqual } from "./equality.ts";
import { type Found, type Obj, PyObject } from "./object.ts";
import { reprItems, within } from "./repr.ts";

/** A tuple; with `names`, one whose items have names too. */
export class Tuple extends PyObject {
  readonly typeName: string = "tuple";

  /** @param items Not to be changed afterwards. @param names The attributes that its first items are too. */
  constructor(readonly items: readonly Obj[], readonly names: readonly string[] = []) {
    super();
  }

  override get iterable(): boolean {
    return true;
  }

  override iterate(): Iterator<Obj> {
    return this.items[Symbol.iterator]();
  }

  override length(): number {
    return this.items.length;
  }

  override getattr(name: string): Found {
    const place = this.names.indexOf(name);
    return place < 0 ? undefined : this.items[place];
  }

  override equals(other: Obj): boolean | undefined {
    return other instanceof Tuple ? sequencesEqual(this.items, other.items) : undefined;
  }

  override checkHashable(): void {
    for (const item of this.items) checkHashable(item);
  }

  override repr(): string {
    const items = within(this, () => reprItems(this.items), "...");
    return this.items.length === 1 ? `(${items},)` : `(${items})`;
  }
}
