/**
 * The pillar requests that wait for a process: each minion has a queue, and the minions take turns. Knows no processes.
 * @module
 */

/** Requests, by minion. The minion whose turn is next is first. */
export class WaitingRequests<R> {
  readonly #queues = new Map<string, R[]>();
  #size = 0;

  /** Number of all requests. */
  get size(): number {
    return this.#size;
  }

  /** The requests of minion `id`; the oldest is first. */
  of(id: string): readonly R[] {
    return this.#queues.get(id) ?? [];
  }

  /** Adds a request of minion `id`. */
  add(id: string, request: R): void {
    const queue = this.#queues.get(id);
    if (queue === undefined) this.#queues.set(id, [request]);
    else queue.push(request);
    this.#size++;
  }

  /** The minion whose turn is next, of those for which `may` is true. */
  next(may: (id: string) => boolean): string | undefined {
    for (const id of this.#queues.keys()) if (may(id)) return id;
    return undefined;
  }

  /** Takes the oldest request of minion `id`. */
  take(id: string): R | undefined {
    const queue = this.#queues.get(id), request = queue?.shift();
    if (request !== undefined) this.#size--;
    if (queue?.length === 0) this.#queues.delete(id);
    return request;
  }

  /** The turn of minion `id` comes after that of all others. */
  putLast(id: string): void {
    const queue = this.#queues.get(id);
    if (queue === undefined) return;
    this.#queues.delete(id);
    this.#queues.set(id, queue);
  }

  /** Removes and returns all requests. */
  clear(): R[] {
    const all = [...this.#queues.values()].flat();
    this.#queues.clear();
    this.#size = 0;
    return all;
  }
}
