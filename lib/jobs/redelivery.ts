/**
 * Which jobs are to be published again, because a minion that is meant has given no sign of them: its connection was cut,
 * the master restarted, or its queue was full.
 *
 * Only minions that acknowledge are waited for (those of lib/fleet/presence.ts); they drop what they have already. A rule with a
 * clock, no sockets.
 * @module
 */

import type { ValueMap } from "../values/value.ts";

/** How long a connected minion may give no sign of a job before it is published again, in milliseconds. */
const SILENCE_MS = 1_500;

/** How many minions are named in a publish at most: all others get it as well, and a name costs each of them its bytes. */
const NAMED = 1_000;

interface Pending {
  readonly delivery: Delivery;
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
  /** Whether minions that can are to send what commands write, as they write it. */
  readonly live: boolean;
}

/** A job that is to go out again. */
export interface Missed {
  /** The job. */
  readonly delivery: Delivery;
  /** The minions that missed it and are there. */
  readonly ids: readonly string[];
}

/** The jobs under way. Times are milliseconds of the caller's clock. */
export class Redelivery {
  readonly #pending = new Map<string, Pending>();
  readonly #over: (delivery: Delivery) => void;

  /** Knows no jobs yet. @param over Told of each job that needs no more delivering: all have it, or its time is over. */
  constructor(over: (delivery: Delivery) => void = () => {}) {
    this.#over = over;
  }

  /** How many jobs still wait for a sign. */
  get size(): number {
    return this.#pending.size;
  }

  /** A job has been published. */
  published(delivery: Delivery, nowMs: number): void {
    const { jid, minions, ttlMs } = delivery;
    if (ttlMs <= 0 || minions.length === 0) return this.#over(delivery);
    this.#pending.set(jid, {
      delivery,
      silent: new Set(minions),
      untilMs: nowMs + ttlMs,
      againMs: nowMs + SILENCE_MS,
    });
  }

  /** Minion `id` has acknowledged job `jid`, or returned. */
  heard(jid: string, id: string, nowMs: number): void {
    const pending = this.#pending.get(jid);
    if (!pending?.silent.delete(id)) return;
    if (pending.silent.size === 0) this.#forget(pending);
    // While thousands answer, those who are still to come have missed nothing.
    else pending.againMs = nowMs + SILENCE_MS;
  }

  #forget({ delivery }: Pending): void {
    this.#pending.delete(delivery.jid);
    this.#over(delivery);
  }

  /** Minions `ids` have just connected. @returns The jobs that any of them has missed, each for so many as can be named. */
  arrived(ids: readonly string[], nowMs: number): Missed[] {
    const missed: Missed[] = [];
    for (const pending of this.#pending.values()) {
      const { delivery, silent, untilMs } = pending;
      if (nowMs > untilMs) {
        this.#forget(pending);
        continue;
      }
      const meant = ids.filter((id) => silent.has(id));
      for (let i = 0; i < meant.length; i += NAMED) missed.push({ delivery, ids: meant.slice(i, i + NAMED) });
    }
    return missed;
  }

  /**
   * The jobs that a connected minion has given no sign of for a while; each at most once in that while, and for so many
   * minions that it can be told who is meant: the others' turn is the next one.
   */
  due(isPresent: (id: string) => boolean, nowMs: number): Missed[] {
    const due: Missed[] = [];
    for (const pending of this.#pending.values()) {
      if (nowMs > pending.untilMs) {
        this.#forget(pending);
      } else if (nowMs >= pending.againMs) {
        pending.againMs = nowMs + SILENCE_MS;
        const ids = [...pending.silent].filter(isPresent).slice(0, NAMED);
        for (const id of ids) {
          pending.silent.delete(id);
          pending.silent.add(id); // behind the others
        }
        if (ids.length > 0) due.push({ delivery: pending.delivery, ids });
      }
    }
    return due;
  }
}
