/**
 * A map whose entries are partly created when they are first needed.
 * @module
 */

/**
 * A map with some entries, which makes all entries when another one, or the whole map, is read. It is a `Map` for
 * everything but `structuredClone()` and `postMessage()`, which see only what it holds by then.
 */
export class LateMap<K, V> extends Map<K, V> {
  #make: (() => Iterable<readonly [K, V]>) | undefined;
  readonly #never: ReadonlySet<K>;

  /**
   * @param known The entries that are known from the beginning.
   * @param make Makes all entries, the known ones included. Called once at most.
   * @param never Keys that `make` adds no entry for.
   */
  constructor(known: Iterable<readonly [K, V]>, make: () => Iterable<readonly [K, V]>, never: Iterable<K> = []) {
    super();
    for (const [key, value] of known) super.set(key, value);
    this.#never = new Set(never);
    this.#make = make;
  }

  /** This map with all its entries. */
  #whole(): this {
    const make = this.#make;
    if (make === undefined) return this;
    this.#make = undefined;
    const entries = [...make()];
    super.clear();
    for (const [key, value] of entries) super.set(key, value);
    return this;
  }

  #has(key: K): boolean {
    if (this.#make === undefined || super.has(key) || this.#never.has(key)) return super.has(key);
    this.#whole();
    return super.has(key);
  }

  override get size(): number {
    this.#whole();
    return super.size;
  }

  override has(key: K): boolean {
    return this.#has(key);
  }

  override get(key: K): V | undefined {
    return this.#has(key) ? super.get(key) : undefined;
  }

  override set(key: K, value: V): this {
    this.#whole();
    return super.set(key, value);
  }

  override delete(key: K): boolean {
    this.#whole();
    return super.delete(key);
  }

  override clear(): void {
    this.#make = undefined;
    super.clear();
  }

  override forEach(callback: (value: V, key: K, map: Map<K, V>) => void, thisArg?: unknown): void {
    this.#whole();
    super.forEach(callback, thisArg);
  }

  override entries(): MapIterator<[K, V]> {
    this.#whole();
    return super.entries();
  }

  override keys(): MapIterator<K> {
    this.#whole();
    return super.keys();
  }

  override values(): MapIterator<V> {
    this.#whole();
    return super.values();
  }

  override [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries();
  }
}
