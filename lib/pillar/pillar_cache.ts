/**
 * A cache of compiled pillars, packed: an entry is valid while everything that it depends on is unchanged. Its size is
 * limited; the least recently used entry is removed first.
 * @module
 */

import type { PillarReads, ReadFacts } from "./reads.ts";

/** Maximum bytes of the cache of one process. */
const MAX_BYTES = 64 * 2 ** 20;

interface Entry {
  readonly reads: PillarReads;
  readonly pillar: Uint8Array;
  /** When it was compiled. */
  readonly atMs: number;
}

/** The compiled pillars of one process. */
export class PillarCache {
  readonly #entries = new Map<string, Entry>();
  readonly #max: number;
  #bytes = 0;

  /** @param max Maximum bytes of all. */
  constructor(max = MAX_BYTES) {
    this.#max = max;
  }

  /** The entry of `key`, if its reads are unchanged for the request, or if it is younger than `ttlMs`. */
  find(key: string, facts: ReadFacts, ttlMs?: number): Uint8Array | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const holds = ttlMs === undefined ? entry.reads.holds(facts) : Date.now() - entry.atMs < ttlMs;
    if (!holds) return void this.drop(key);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.pillar;
  }

  /** Stores `pillar` under `key`; removes the least recently used entries if the cache is full. */
  keep(key: string, pillar: Uint8Array, reads: PillarReads): void {
    this.drop(key);
    if (pillar.length > this.#max) return;
    this.#entries.set(key, { reads, pillar, atMs: Date.now() });
    this.#bytes += pillar.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#max) break;
      this.drop(oldest);
    }
  }

  /** Removes the entry of `key`. */
  drop(key: string): void {
    this.#bytes -= this.#entries.get(key)?.pillar.length ?? 0;
    this.#entries.delete(key);
  }
}
