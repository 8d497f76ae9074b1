/**
 * Whose function runs next: a user with many that wait, or with long ones, delays others by that user's share alone.
 * The next is of the user with the fewest that run; of several such users, of the one whose functions have taken the
 * least time lately, then of the one who has waited longest. Knows no processes and no clock.
 * @module
 */

import { BoundedMap } from "#lib/values/bounded_map.ts";

/** Users whose time is remembered. */
const MAX_USERS = 1_000;
/** What was used counts half after this time, in milliseconds. */
const HALF_MS = 60_000;

/** The time that a user's functions have taken, as it was at a moment. */
interface Used {
  readonly ms: number;
  readonly atMs: number;
}

/** What waits, by user. Times are milliseconds of the caller's clock. */
export class UserTurns<Item> {
  readonly #waiting = new Map<string, Item[]>();
  readonly #running = new Map<string, number>();
  readonly #used = new BoundedMap<string, Used>(MAX_USERS);
  #size = 0;

  /** Number of items that wait. */
  get size(): number {
    return this.#size;
  }

  /** Number of a user's items that wait. */
  waitingOf(user: string): number {
    return this.#waiting.get(user)?.length ?? 0;
  }

  /** An item waits. */
  add(user: string, item: Item): void {
    const items = this.#waiting.get(user);
    if (items === undefined) this.#waiting.set(user, [item]);
    else items.push(item);
    this.#size++;
  }

  /** Takes the next item, which runs from now on. */
  start(nowMs: number): Item | undefined {
    let next: { readonly user: string; readonly running: number; readonly usedMs: number } | undefined;
    for (const user of this.#waiting.keys()) {
      const running = this.#running.get(user) ?? 0, usedMs = this.#usedBy(user, nowMs);
      const isBefore = next === undefined || running < next.running ||
        (running === next.running && usedMs < next.usedMs);
      if (isBefore) next = { user, running, usedMs };
    }
    if (next === undefined) return undefined;
    const { user, running } = next, items = this.#waiting.get(user) ?? [];
    const item = items.shift();
    this.#size--;
    // The user is the last of those who wait.
    this.#waiting.delete(user);
    if (items.length > 0) this.#waiting.set(user, items);
    this.#running.set(user, running + 1);
    return item;
  }

  /** An item of a user has run for some time. */
  end(user: string, ms: number, nowMs: number): void {
    const running = (this.#running.get(user) ?? 1) - 1;
    if (running > 0) this.#running.set(user, running);
    else this.#running.delete(user);
    this.#used.set(user, { ms: this.#usedBy(user, nowMs) + ms, atMs: nowMs });
  }

  #usedBy(user: string, nowMs: number): number {
    const used = this.#used.get(user);
    return used === undefined ? 0 : used.ms * 0.5 ** (Math.max(0, nowMs - used.atMs) / HALF_MS);
  }

  /** Takes all that wait. */
  clear(): Item[] {
    const all = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    this.#size = 0;
    return all;
  }
}
