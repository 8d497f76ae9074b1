/**
 * A copy of a map that reports which of its keys are read.
 * @module
 */

import type { Value, ValueMap } from "#lib/values/value.ts";

/** Called with the reads. */
export interface MapWatch {
  /** A key was read; `undefined`: there is none of that name. */
  key(key: Value, value: Value | undefined): void;
  /** All of it was read, or its size. */
  all(): void;
  /** It is being changed. */
  changed(): void;
}

/** The copy. Setting a key changes only the copy. */
export class WatchedMap extends Map<Value, Value> {
  readonly #watch: MapWatch;

  /** @param source Copied. */
  constructor(source: ValueMap, watch: MapWatch) {
    super();
    for (const [key, value] of source) super.set(key, value);
    this.#watch = watch;
  }

  override get(key: Value): Value | undefined {
    const value = super.get(key);
    this.#watch.key(key, value);
    return value;
  }

  override has(key: Value): boolean {
    this.#watch.key(key, super.get(key));
    return super.has(key);
  }

  override set(key: Value, value: Value): this {
    this.#watch.changed();
    return super.set(key, value);
  }

  override delete(key: Value): boolean {
    this.#watch.changed();
    return super.delete(key);
  }

  override clear(): void {
    this.#watch.changed();
    super.clear();
  }

  override get size(): number {
    this.#watch.all();
    return super.size;
  }

  override entries(): MapIterator<[Value, Value]> {
    this.#watch.all();
    return super.entries();
  }

  override keys(): MapIterator<Value> {
    this.#watch.all();
    return super.keys();
  }

  override values(): MapIterator<Value> {
    this.#watch.all();
    return super.values();
  }

  override [Symbol.iterator](): MapIterator<[Value, Value]> {
    return this.entries();
  }

  override forEach(act: (value: Value, key: Value, map: Map<Value, Value>) => void, self?: unknown): void {
    this.#watch.all();
    super.forEach(act, self);
  }
}
