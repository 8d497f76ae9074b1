/**
 * A map of bounded size: of what is made anew with little effort, the last that was new is kept. Knows nothing of what it holds.
 * @module
 */

/** Keeps so many; who came first goes first. */
export class BoundedMap<Key, Item> {
  readonly #items = new Map<Key, Item>();
  readonly #most: number;

  /** Holds nothing yet. @param most How many at most. */
  constructor(most: number) {
    this.#most = most;
  }

  /** What is kept under `key`. */
  get(key: Key): Item | undefined {
    return this.#items.get(key);
  }

  /** Keeps `item`. */
  set(key: Key, item: Item): void {
    if (this.#items.size >= this.#most && !this.#items.has(key)) {
      const [oldest] = this.#items.keys();
      this.#items.delete(oldest);
    }
    this.#items.set(key, item);
  }

  /** Forgets `key`. */
  delete(key: Key): void {
    this.#items.delete(key);
  }
}
