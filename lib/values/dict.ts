/**
 * A map for keys that somebody else has chosen, as many as they like: whatever they are, an entry costs the same.
 *
 * It is a `Map` to all who read it; but it has a table of its own with a keyed hash (keyed_hash.ts), and tells keys apart as
 * Python does: `1`, `1.0` and `True` are one key, and so are equal bytes. What the runtime does with a Map's own memory passes it
 * over: it cannot be given to `structuredClone` or another thread. A copy of a large one is made by {@linkcode copyMap}.
 * @module
 */

import { hashBytes, hashText, hashWords } from "./keyed_hash.ts";
import { Float, type Value } from "./value.ts";

/** A map of more entries than this is to be a {@linkcode Dict}; below it, colliding keys cost no more than other work does. */
export const PLAIN_ENTRIES = 400;
/** A map with a text longer than this for a key is to be one, too. */
export const PLAIN_KEY_LENGTH = 1_000;

const FIRST_PLACES = 64;

/** The map. Its keys and values are in arrays, in their order; the table says where in them a key is. */
export class Dict<V = Value> extends Map<Value, V> {
  /** `undefined`: was deleted. Its place is only used again after {@linkcode clear}. */
  #keys: (Value | undefined)[] = [];
  #values: (V | undefined)[] = [];
  #hashes = new Int32Array(FIRST_PLACES / 2);
  /** Number of an entry, from 1; 0: nobody's. Twice as many places as entries, at least; their number is a power of two. */
  #table = new Int32Array(FIRST_PLACES);
  #deleted = 0;

  /** Begins with the entries of another map. */
  constructor(entries?: Iterable<readonly [Value, V]>) {
    super();
    if (entries !== undefined) { for (const [key, value] of entries) this.set(key, value); }
  }

  /** How many entries it has. */
  override get size(): number {
    return this.#keys.length - this.#deleted;
  }

  /** The number of the entry from 0, or -1. */
  #find(key: Value, hash: number): number {
    const table = this.#table;
    const mask = table.length - 1;
    for (let place = hash & mask;; place = (place + 1) & mask) {
      const entry = table[place] - 1;
      if (entry < 0) return -1;
      if (this.#hashes[entry] === hash && isSameKey(this.#keys[entry], key)) return entry;
    }
  }

  /** What is under the key that is `key` to Python. */
  override get(key: Value): V | undefined {
    const entry = this.#find(key, hashKey(key));
    return entry < 0 ? undefined : this.#values[entry];
  }

  /** Whether there is such a key. */
  override has(key: Value): boolean {
    return this.#find(key, hashKey(key)) >= 0;
  }

  /** Puts `value` under `key`; if there is an equal key, that one stays. */
  override set(key: Value, value: V): this {
    const hash = hashKey(key);
    const known = this.#find(key, hash);
    if (known >= 0) {
      this.#values[known] = value;
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

  /** A Map of the same entries, if that is as good and they are few; else this. */
  plain(): Map<Value, V> {
    if (this.size > PLAIN_ENTRIES) return this;
    for (const key of this.keys()) if (typeof key === "string" && key.length > PLAIN_KEY_LENGTH) return this;
    return new Map(this);
  }

  /** Removes an entry. @returns Whether it was there. */
  override delete(key: Value): boolean {
    const entry = this.#find(key, hashKey(key));
    if (entry < 0) return false;
    this.#keys[entry] = undefined;
    this.#values[entry] = undefined;
    this.#deleted++;
    return true;
  }

  /** Removes all. */
  override clear(): void {
    this.#keys = [];
    this.#values = [];
    this.#hashes = new Int32Array(FIRST_PLACES / 2);
    this.#table = new Int32Array(FIRST_PLACES);
    this.#deleted = 0;
  }

  /** The entries in their order, with those that come while they are read. */
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

  /** What `console.log` shows, which would find nothing. */
  [Symbol.for("Deno.customInspect")](inspect: typeof Deno.inspect, options: Deno.InspectOptions): string {
    return inspect(new Map(this), options);
  }

  /** Calls `act` with each entry. */
  override forEach(act: (value: V, key: Value, map: Map<Value, V>) => void, self?: unknown): void {
    for (const [key, value] of this.entries()) act.call(self, value, key, this);
  }
}

/** A copy of `map`; of one that is large, or a {@linkcode Dict}, it is a Dict. */
export function copyMap<V>(map: ReadonlyMap<Value, V>): Map<Value, V> {
  return map.size > PLAIN_ENTRIES || map instanceof Dict ? new Dict(map) : new Map(map);
}

/** A map of `entries`, whose keys somebody else has chosen. */
export function mapOf<V>(entries: readonly (readonly [Value, V])[]): Map<Value, V> {
  return entries.length > PLAIN_ENTRIES ? new Dict(entries) : new Map(entries);
}

/** Whether Python takes both for the same key; NaN, which Python tells from itself, is one key here, as in every Map. */
function isSameKey(known: Value | undefined, key: Value): boolean {
  if (known === undefined) return false;
  if (known === key) return true;
  if (typeof known === "string" || typeof key === "string") return false;
  if (known instanceof Uint8Array || key instanceof Uint8Array) {
    if (!(known instanceof Uint8Array && key instanceof Uint8Array) || known.length !== key.length) return false;
    for (let i = 0; i < known.length; i++) if (known[i] !== key[i]) return false;
    return true;
  }
  const a = numberOf(known), b = numberOf(key);
  if (a === undefined || b === undefined) return false;
  // Exact, also between a number and a bigint.
  return (a <= b && a >= b) || (Number.isNaN(a) && Number.isNaN(b));
}

function numberOf(key: Value): number | bigint | undefined {
  if (typeof key === "number" || typeof key === "bigint") return key;
  if (typeof key === "boolean") return key ? 1 : 0;
  return key instanceof Float ? key.value : undefined;
}

const double = new Float64Array(1);
const halves = new Int32Array(double.buffer);

/** Equal for what {@linkcode isSameKey} takes for the same. Lists and maps are no keys. */
function hashKey(key: Value): number {
  if (typeof key === "string") return hashText(key);
  if (key instanceof Uint8Array) return hashBytes(key);
  const number = numberOf(key);
  if (number === undefined) return 0; // None
  // An int of 64 bits has more of them than a float, which may be equal to it. Beyond that no message holds an int.
  const size = number < 0 ? -number : number;
  if (size > Number.MAX_SAFE_INTEGER && size < 2 ** 64) {
    const int = BigInt(number);
    return hashWords(Number(BigInt.asIntN(32, int)), Number(BigInt.asIntN(32, int >> 32n)));
  }
  double[0] = number === 0 ? 0 : Number(number); // -0 is 0
  return hashWords(halves[0], halves[1]);
}
