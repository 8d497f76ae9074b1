/**
 * Who wants to know when a session or an API token ends: the streams that are open for it.
 * @module
 */

/** The watchers of one API. */
export class EndWatches {
  readonly #watchers = new Map<string, Set<() => void>>();

  /**
   * Calls `tell` when what has this id ends.
   * @returns Ends the watch.
   */
  watch(id: string, tell: () => void): () => void {
    const watchers = this.#watchers.get(id) ?? new Set();
    this.#watchers.set(id, watchers.add(tell));
    return () => {
      watchers.delete(tell);
      if (watchers.size === 0) this.#watchers.delete(id);
    };
  }

  /** Tells the watchers of this id. */
  tell(id: string): void {
    const watchers = this.#watchers.get(id);
    this.#watchers.delete(id);
    for (const tell of watchers ?? []) tell();
  }
}
