/**
 * A map that stays fast when an untrusted sender chooses the keys and their number (protection against hash
 * collisions). It is a `Map` to its users, but has its own table with a keyed hash (keyed_hash.ts). It compares keys as
 * Python does: `1`, `1.0` and `True` are one key, and equal bytes are one key.
 *
 * The runtime does not see these entries as those of a Map: a Dict cannot be passed to `structuredClone` or to another
 * thread. {@linkcode copyMap} copies a Dict.
 * @module
 */

import { hashBytesKeyed, hashTextKeyed, hashWords } from "./keyed_hash.ts";
import { numeric, type Value } from "./value.ts";

/** Maps with more entries than this must be a {@linkcode Dict}. Below it, colliding keys cost little. */
export const PLAIN_ENTRIES = 400;
/** Maps with a text key longer than this (UTF-16 units) must be a Dict too. */
export const PLAIN_KEY_LENGTH = 1_000;

const FIRST_PLACES = 64;

/** Keys and values are in two arrays, in insertion order; the table maps a hash to their index. */
export class Dict<V = Value> extends Map<Value, V> {
  /** `undefined` marks a deleted entry. Its place is not used again before {@linkcode clear}. */
  #keys: (Value | undefined)[] = [];
  #values: (V | undefined)[] = [];
  #hashes = new Int32Array(FIRST_PLACES / 2);
  /**
   * Number of an entry from 1; 0: free. Has at least twice as many places as there are entries; the size is a power of
   * two.
   */
  #table = new Int32Array(FIRST_PLACES);
  #deleted = 0;

  /** @param entries Copied into the new map. */
  constructor(entries?: Iterable<readonly [Value, V]>) {
    super();
    if (entries !== undefined) { for (const [key, value] of entries) this.set(key, value); }
  }

  override get size(): number {
    return this.#keys.length - this.#deleted;
  }

  /** The index of the entry, or -1. */
  #find(key: Value, hash: number): number {
    const table = this.#table;
    const mask = table.length - 1;
    for (let place = hash & mask;; place = (place + 1) & mask) {
      const entry = table[place] - 1;
      if (entry < 0) return -1;
      if (this.#hashes[entry] === hash && isSameKey(this.#keys[entry], key)) return entry;
    }
  }

  /** The value of the key that Python takes for equal to `key`. */
  override get(key: Value): V | undefined {
    const entry = this.#find(key, hashKey(key));
    return entry < 0 ? undefined : this.#values[entry];
  }

  override has(key: Value): boolean {
    return this.#find(key, hashKey(key)) >= 0;
  }

  /** Sets `value` under `key`. If an equal key exists, that key stays. */
  override set(key: Value, value: V): this {
    const hash = hashKey(key);
    const index = this.#find(key, hash);
    if (index >= 0) {
      this.#values[index] = value;
      return this;
    }
    const entry = this.#keys.length;
    if (entry >= this.#hashes.length) this.#grow();
    this.#keys.push(key);
    this.#values.push(value);
    this.#hashes[entry] = hash;
    this.#enter(entry);
    return this;
  }

  #enter(entry: number): void {
    const mask = this.#table.length - 1;
    let place = this.#hashes[entry] & mask;
    while (this.#table[place] !== 0) place = (place + 1) & mask;
    this.#table[place] = entry + 1;
  }

  #grow(): void {
    const hashes = new Int32Array(this.#hashes.length * 2);
    hashes.set(this.#hashes);
    this.#hashes = hashes;
    this.#table = new Int32Array(this.#table.length * 2);
    for (let entry = 0; entry < this.#keys.length; entry++) this.#enter(entry);
  }

  /** A plain Map with the same entries if there are few of them and that is safe; else this. */
  plain(): Map<Value, V> {
    if (this.size > PLAIN_ENTRIES) return this;
    for (const key of this.keys()) if (typeof key === "string" && key.length > PLAIN_KEY_LENGTH) return this;
    return new Map(this);
  }

  /**
   * Removes an entry.
   * @returns Whether it was there.
   */
  override delete(key: Value): boolean {
    const entry = this.#find(key, hashKey(key));
    if (entry < 0) return false;
    this.#keys[entry] = undefined;
    this.#values[entry] = undefined;
    this.#deleted++;
    return true;
  }

  override clear(): void {
    this.#keys = [];
    this.#values = [];
    this.#hashes = new Int32Array(FIRST_PLACES / 2);
    this.#table = new Int32Array(FIRST_PLACES);
    this.#deleted = 0;
  }

  /** The entries in insertion order, including those that are added while they are read. */
  override *entries(): MapIterator<[Value, V]> {
    for (let entry = 0; entry < this.#keys.length; entry++) {
      const key = this.#keys[entry];
      if (key !== undefined) yield [key, this.#values[entry] as V];
    }
  }

  /** The keys, as {@linkcode entries}. */
  override *keys(): MapIterator<Value> {
    for (const [key] of this.entries()) yield key;
  }

  /** The values, as {@linkcode entries}. */
  override *values(): MapIterator<V> {
    for (const [, value] of this.entries()) yield value;
  }

  /** As {@linkcode entries}. */
  override [Symbol.iterator](): MapIterator<[Value, V]> {
    return this.entries();
  }

  /** For `console.log`, which otherwise would show an empty map. */
  [Symbol.for("Deno.customInspect")](inspect: typeof Deno.inspect, options: Deno.InspectOptions): string {
    return inspect(new Map(this), options);
  }

  override forEach(act: (value: V, key: Value, map: Map<Value, V>) => void, self?: unknown): void {
    for (const [key, value] of this.entries()) act.call(self, value, key, this);
  }
}

/** A copy of `map`; a Dict if `map` is one or is large. */
export function copyMap<V>(map: ReadonlyMap<Value, V>): Map<Value, V> {
  return map.size > PLAIN_ENTRIES || map instanceof Dict ? new Dict(map) : new Map(map);
}

/** A map of `entries` whose keys are untrusted. */
export function mapOf<V>(entries: readonly (readonly [Value, V])[]): Map<Value, V> {
  return entries.length > PLAIN_ENTRIES ? new Dict(entries) : new Map(entries);
}

/** Whether Python takes both for the same key. Unlike in Python, NaN is equal to itself, as in every Map. */
function isSameKey(known: Value | undefined, key: Value): boolean {
  if (known === undefined) return false;
  if (known === key) return true;
  if (typeof known === "string" || typeof key === "string") return false;
  if (known instanceof Uint8Array || key instanceof Uint8Array) {
    if (!(known instanceof Uint8Array && key instanceof Uint8Array) || known.length !== key.length) return false;
    for (let i = 0; i < known.length; i++) if (known[i] !== key[i]) return false;
    return true;
  }
  const a = numeric(known), b = numeric(key);
  if (a === undefined || b === undefined) return false;
  // This comparison is exact between a number and a bigint too.
  return (a <= b && a >= b) || (Number.isNaN(a) && Number.isNaN(b));
}

const double = new Float64Array(1);
const halves = new Int32Array(double.buffer);

/** Keys that {@linkcode isSameKey} takes for the same have the same hash. Lists and maps cannot be keys. */
function hashKey(key: Value): number {
  if (typeof key === "string") return hashTextKeyed(key);
  if (key instanceof Uint8Array) return hashBytesKeyed(key);
  const number = numeric(key);
  if (number === undefined) return 0; // None
  // A 64-bit int has more digits than a float, and a float may be equal to it. No message holds larger ints.
  const size = number < 0 ? -number : number;
  if (size > Number.MAX_SAFE_INTEGER && size < 2 ** 64) {
    const int = BigInt(number);
    return hashWords(Number(BigInt.asIntN(32, int)), Number(BigInt.asIntN(32, int >> 32n)));
  }
  double[0] = number === 0 ? 0 : Number(number); // -0 is 0
  return hashWords(halves[0], halves[1]);
}
