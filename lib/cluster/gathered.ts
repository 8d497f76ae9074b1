/**
 * Work that is done together: what comes while the work before is done is the next one's. So one transaction serves all
 * requests of a moment.
 * @module
 */

interface Waiting<Item> {
  readonly item: Item;
  resolve(): void;
  reject(error: unknown): void;
}

/** Items of one kind of work. */
export class Gathered<Item> {
  readonly #work: (items: readonly Item[]) => Promise<void>;
  readonly #most: number;
  #waiting: Waiting<Item>[] = [];
  #working = false;

  /**
   * @param work Does the work for some items.
   * @param most How many at once.
   */
  constructor(work: (items: readonly Item[]) => Promise<void>, most: number) {
    this.#work = work;
    this.#most = most;
  }

  /**
   * Resolves when the work for this item is done.
   * @throws What the work throws, for all items of its turn.
   */
  add(item: Item): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ item, resolve, reject });
    if (!this.#working) {
      this.#working = true;
      void this.#run();
    }
    return promise;
  }

  /** Never rejects: each item gets the error of its turn. */
  async #run(): Promise<void> {
    await Promise.resolve(); // what comes in this turn of the event loop is one piece of work
    while (this.#waiting.length > 0) {
      const some = this.#waiting.splice(0, this.#most);
      try {
        await this.#work(some.map(({ item }) => item));
        for (const { resolve } of some) resolve();
      } catch (error) {
        for (const { reject } of some) reject(error);
      }
    }
    this.#working = false;
  }
}
