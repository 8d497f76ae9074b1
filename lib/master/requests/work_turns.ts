/**
 * Fair turns of minions by the time for which their requests keep the master's threads busy. One minion may have a
 * quarter of the processors in the long run, but at least one, and two seconds more at once; requests beyond that wait,
 * so that those of others have their turn before. A minion that sends one request after the other never waits. Each
 * thread counts for itself, with its share. Knows no commands.
 *
 * Only costly requests are counted: large ones, and those that take far longer than usual ones do, also on a busy
 * machine. So a master that has only usual requests does nothing for this.
 * Source: measured (docs/decisions.md "Fair turns").
 * @module
 */

import { BoundedMap } from "#lib/values/bounded_map.ts";

/** The part of the processors that one minion may have in the long run, and the least of them. */
const PART = 0.25, LEAST = 1;
/** What one minion may use at once, in milliseconds of all threads. */
const BURST_MS = 2_000;
/** A request with so many bytes is a large one. */
const LARGE_BYTES = 65_536;
/** What a large request, and any other, must take to be counted, in milliseconds. */
const LARGE_MS = 2, COSTLY_MS = 20;
/** A request waits no longer, in milliseconds: minions send it again after five seconds or more. */
const LONGEST_MS = 4_000;
/** Minions that a thread remembers. */
const MAX_MINIONS = 10_000;

/** What one minion has used. */
interface Work {
  /** When it has been made up for, in milliseconds of the clock. */
  readonly untilMs: number;
  /** What its costly requests take, in milliseconds. */
  readonly costMs: number;
}

/** How a {@linkcode WorkTurns} counts. */
export interface WorkTurnsOptions {
  /** How many threads take requests. */
  readonly threads: number;
  /** Default: those of this machine. */
  readonly processors?: number;
  /** Milliseconds of a clock that does not jump. */
  now(): number;
}

/** The turns of one thread. */
export class WorkTurns {
  readonly #share: number;
  readonly #burstMs: number;
  readonly #now: () => number;
  readonly #minions = new BoundedMap<string, Work>(MAX_MINIONS);
  /** Whether there is any minion to look for. */
  #counts = false;
  /** Whose request is being done, if it is still to be counted. */
  #id: string | undefined;
  #bytes = 0;

  constructor({ threads, processors = navigator.hardwareConcurrency, now }: WorkTurnsOptions) {
    this.#share = Math.min(1, Math.max(LEAST, PART * processors) / threads);
    this.#burstMs = BURST_MS / threads / this.#share;
    this.#now = now;
  }

  /**
   * A minion's request begins.
   * @returns How long it must wait, in milliseconds.
   */
  begin(id: string, bytes: number): number {
    this.#id = id;
    this.#bytes = bytes;
    if (!this.#counts) return 0;
    const work = this.#minions.get(id), nowMs = this.#now();
    if (work === undefined) return 0;
    const waitMs = Math.min(LONGEST_MS, work.untilMs - nowMs - this.#burstMs);
    if (waitMs <= 0) {
      if (work.untilMs <= nowMs) this.#minions.delete(id);
      return 0;
    }
    // The part after its wait is not measured: it is counted as those before it.
    this.#id = undefined;
    this.#use(id, work.costMs, work);
    return waitMs;
  }

  /** The request that began last has kept the thread busy for so long, until it was done or has waited. */
  spent(ms: number): void {
    const id = this.#id;
    this.#id = undefined;
    if (id === undefined || ms < (this.#bytes >= LARGE_BYTES ? LARGE_MS : COSTLY_MS)) return;
    this.#use(id, ms, this.#minions.get(id));
  }

  #use(id: string, ms: number, { untilMs, costMs }: Work = { untilMs: 0, costMs: 0 }): void {
    const nowMs = this.#now();
    this.#counts = true;
    this.#minions.set(id, {
      // What waits longest need not make up for all that came before it.
      untilMs: Math.min(Math.max(nowMs, untilMs) + ms / this.#share, nowMs + this.#burstMs + LONGEST_MS),
      costMs: Math.max(ms, costMs * 0.9),
    });
  }
}
