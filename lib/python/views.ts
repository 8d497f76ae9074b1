/**
 * Lazy collections: ranges, the views of a dict, iterators.
 * @module
 */

import { dictGet, dictHas } from "./dict.ts";
import { isEqual } from "./equality.ts";
import { pythonError } from "./errors.ts";
import { mapEntries } from "./iterate.ts";
import { floatOf, indexOf, intOf } from "./kinds.ts";
import { type Obj, type ObjMap, PyObject } from "./object.ts";
import { reprItems } from "./repr.ts";
import { Tuple } from "#lib/values/tuple.ts";

/** Ints from `start` on, `step` apart, before `stop`. */
export class PyRange extends PyObject {
  readonly typeName = "range";
  readonly count: number;

  /** @param step Not 0. */
  constructor(readonly start: number, readonly stop: number, readonly step: number) {
    super();
    this.count = Math.max(0, Math.ceil((stop - start) / step));
  }

  override get iterable(): boolean {
    return true;
  }

  override *iterate(): Iterator<Obj> {
    for (let i = 0; i < this.count; i++) yield this.start + i * this.step;
  }

  override length(): number {
    return this.count;
  }

  override get subscriptable(): boolean {
    return true;
  }

  override getitem(key: Obj): Obj | undefined {
    const index = indexOf(key, "object cannot be interpreted as an integer");
    const place = index < 0 ? index + this.count : index;
    return place >= 0 && place < this.count ? this.start + place * this.step : undefined;
  }

  override getattr(name: string): Obj | undefined {
    if (name === "start") return this.start;
    if (name === "stop") return this.stop;
    return name === "step" ? this.step : undefined;
  }

  override contains(item: Obj): boolean {
    const number = intOf(item) ?? floatOf(item);
    if (typeof number !== "number") return false;
    const place = (number - this.start) / this.step;
    return Number.isInteger(place) && place >= 0 && place < this.count;
  }

  override equals(other: Obj): boolean | undefined {
    if (!(other instanceof PyRange)) return undefined;
    if (other.count !== this.count || this.count === 0) return other.count === this.count;
    return this.start === other.start && (this.count === 1 || this.step === other.step);
  }

  override repr(): string {
    return `range(${this.start}, ${this.stop}${this.step === 1 ? "" : `, ${this.step}`})`;
  }
}

/** The result of `keys()`, `values()` and `items()` of a dict: it shows later changes of the dict. */
export class DictView extends PyObject {
  readonly typeName: string;

  /** @param kind Which of the three. */
  constructor(readonly map: ObjMap, readonly kind: "keys" | "values" | "items") {
    super();
    this.typeName = `dict_${kind}`;
  }

  override get iterable(): boolean {
    return true;
  }

  override iterate(): Iterator<Obj> {
    if (this.kind === "items") return mapEntries(this.map, (key, value) => new Tuple([key, value]));
    return this.kind === "keys" ? mapEntries(this.map, (key) => key) : mapEntries(this.map, (_, value) => value);
  }

  override length(): number {
    return this.map.size;
  }

  override contains(item: Obj): boolean | undefined {
    if (this.kind === "keys") return dictHas(this.map, item);
    if (this.kind === "values") return undefined;
    if (!(item instanceof Tuple) || item.length !== 2) return false;
    const value = dictGet(this.map, item[0]);
    return value !== undefined && isEqual(value, item[1]);
  }

  override equals(other: Obj): boolean | undefined {
    if (!(other instanceof DictView) || this.kind === "values" || other.kind !== this.kind) return undefined;
    if (this.map.size !== other.map.size) return false;
    return [...this.map.keys()].every((key) =>
      this.kind === "keys"
        ? dictHas(other.map, key)
        : other.contains(new Tuple([key, this.map.get(key) ?? null])) === true
    );
  }

  override repr(): string {
    const items = this.iterate();
    return `${this.typeName}([${reprItems({ [Symbol.iterator]: () => items })}])`;
  }
}

/** Items that can be read once: the result of filters such as `map`. */
export class PyIterator extends PyObject {
  readonly #items: Iterator<Obj>;

  /**
   * @param items Read as they are needed.
   * @param typeName Python's type.
   */
  constructor(items: Iterable<Obj>, readonly typeName: string = "generator") {
    super();
    this.#items = items[Symbol.iterator]();
  }

  override get iterable(): boolean {
    return true;
  }

  override iterate(): Iterator<Obj> {
    return this.#items;
  }

  override truth(): boolean {
    return true;
  }
}

/** Refuses a step of 0, and anything that is not an int. */
export function rangeOf(args: readonly Obj[]): PyRange {
  if (args.length === 0) throw pythonError("TypeError", "range expected at least 1 argument, got 0");
  if (args.length > 3) throw pythonError("TypeError", `range expected at most 3 arguments, got ${args.length}`);
  const numbers = args.map((arg) => indexOf(arg));
  const [start, stop] = numbers.length === 1 ? [0, numbers[0]] : numbers;
  const step = numbers[2] ?? 1;
  if (step === 0) throw pythonError("ValueError", "range() arg 3 must not be zero");
  return new PyRange(start, stop, step);
}
