/**
 * Which jobs are to be published again, because a minion that is meant has given no sign of them: its connection was cut,
 * the master restarted, or its queue was full.
 *
 * Only minions that acknowledge are waited for (those of presence.ts); they drop what they have already. A rule with a
 * clock, no sockets.
 * @module
 */

import type { ValueMap } from "./value.ts";

/** How long a connected minion may give no sign of a job before it is published again, in milliseconds. */
const SILENCE_MS = 1_500;

interface Pending {
  readonly load: ValueMap;
  /** The minions that have given no sign yet. */
  readonly silent: Set<string>;
  readonly untilMs: number;
  againMs: number;
}

/** A job that went out. */
export interface Delivery {
  /** Its id. */
  readonly jid: string;
  /** What the minions get. */
  readonly load: ValueMap;
  /** The minions that are meant. */
  readonly minions: readonly string[];
  /** How long it may be delivered, in milliseconds. */
  readonly ttlMs: number;
}

/** The jobs under way. */
export class Redelivery {
  readonly #pending = new Map<string, Pending>();

  /** How many jobs still wait for a sign. */
  get size(): number {
    return this.#pending.size;
  }

  /** A job has been published. */
  published({ jid, load, minions, ttlMs }: Delivery, nowMs: number): void {
    if (ttlMs <= 0 || minions.length === 0) return;
    this.#pending.set(jid, {
      load,
      silent: new Set(minions),
      untilMs: nowMs + ttlMs,
      againMs: nowMs + SILENCE_MS,
    });
  }

  /** Minion `id` has acknowledged job `jid`, or returned. */
  heard(jid: string, id: string): void {
    const pending = this.#pending.get(jid);
    if (pending?.silent.delete(id) && pending.silent.size === 0) this.#pending.delete(jid);
  }

  /** Minion `id` has just connected. @returns The jobs that it has missed. */
  arrived(id: string, nowMs: number): ValueMap[] {
    const missed: ValueMap[] = [];
    for (const [jid, pending] of this.#pending) {
      if (nowMs > pending.untilMs) this.#pending.delete(jid);
      else if (pending.silent.has(id)) missed.push(pending.load);
    }
    return missed;
  }

  /** The jobs that a connected minion has given no sign of for a while; each at most once in that while. */
  due(isPresent: (id: string) => boolean, nowMs: number): ValueMap[] {
    const due: ValueMap[] = [];
    for (const [jid, pending] of this.#pending) {
      if (nowMs > pending.untilMs) {
        this.#pending.delete(jid);
      } else if (nowMs >= pending.againMs) {
        pending.againMs = nowMs + SILENCE_MS;
        if ([...pending.silent].some(isPresent)) due.push(pending.load);
      }
    }
    return due;
  }
}
