/**
 * Decides which jobs are published again because a target minion has not acknowledged them: its connection was lost,
 * the master restarted, or its queue was full. Waits only for minions that acknowledge (those of
 * lib/fleet/presence.ts); they drop duplicates. A rule with a clock, without sockets.
 * @module
 */

import type { ValueMap } from "#lib/values/value.ts";

/** Time without an acknowledgement of a connected minion before a job is published again, in milliseconds. */
const SILENCE_MS = 1_500;

/** Maximum number of minions named in a publish: all others get it as well, and each name takes bytes. */
const NAMED = 1_000;

interface Pending {
  readonly delivery: Delivery;
  /** The minions without an acknowledgement. */
  readonly silent: Set<string>;
  untilMs: number;
  againMs: number;
  /** Whether it was published again because of silent minions. */
  repeated: boolean;
}

/** A published job. */
export interface Delivery {
  readonly jid: string;
  /** The load for the minions. */
  readonly load: ValueMap;
  /** The target minions. */
  readonly minions: readonly string[];
  /** How long it may be delivered, in milliseconds. */
  readonly ttlMs: number;
  /** Whether minions that support it are asked for live output. */
  readonly live: boolean;
  /** The minions that have been sent it, if it goes to them a few at a time (`running` of `flow`). */
  readonly sent?: readonly string[];
  /** The minions that do not get it, and of which that is not stored yet. */
  readonly cancelled?: readonly string[];
}

/** A job to publish again. */
export interface Missed {
  readonly delivery: Delivery;
  /** The connected minions that missed it. */
  readonly ids: readonly string[];
  /**
   * Whether they were silent about the last repetition, too: a minion that has the job drops it, and what it said
   * before may be lost.
   */
  readonly repeated: boolean;
}

/** The pending jobs. Times are milliseconds of the caller's clock. */
export class Redelivery {
  readonly #pending = new Map<string, Pending>();
  readonly #over: (delivery: Delivery) => void;

  /** @param over Called with each job that needs no more delivery: all minions have it, or its time is over. */
  constructor(over: (delivery: Delivery) => void = () => {}) {
    this.#over = over;
  }

  /** Number of jobs that still wait for acknowledgements. */
  get size(): number {
    return this.#pending.size;
  }

  /** Whether job `jid` still waits for acknowledgements. */
  has(jid: string): boolean {
    return this.#pending.has(jid);
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
      repeated: false,
    });
  }

  /** A job has been published to more of its minions, by name. */
  publishedMore(delivery: Delivery, nowMs: number): void {
    const pending = this.#pending.get(delivery.jid);
    if (pending === undefined || delivery.ttlMs <= 0) return this.published(delivery, nowMs);
    for (const id of delivery.minions) pending.silent.add(id);
    pending.untilMs = nowMs + delivery.ttlMs;
  }

  /** Minion `id` has acknowledged job `jid`, or returned. */
  noteAnswer(jid: string, id: string, nowMs: number): void {
    const pending = this.#pending.get(jid);
    if (!pending?.silent.delete(id)) return;
    if (pending.silent.size === 0) this.#forget(pending);
    // While thousands of minions answer, the others have not missed anything yet.
    else pending.againMs = nowMs + SILENCE_MS;
  }

  #forget({ delivery }: Pending): void {
    this.#pending.delete(delivery.jid);
    this.#over(delivery);
  }

  /**
   * Minions `ids` have just connected.
   * @returns The jobs that any of them has missed, each with the maximum number of names.
   */
  arrived(ids: readonly string[], nowMs: number): Missed[] {
    const missed: Missed[] = [];
    for (const pending of this.#pending.values()) {
      const { delivery, silent, untilMs } = pending;
      if (nowMs > untilMs) {
        this.#forget(pending);
        continue;
      }
      const missing = ids.filter((id) => silent.has(id));
      for (let i = 0; i < missing.length; i += NAMED) {
        missed.push({ delivery, ids: missing.slice(i, i + NAMED), repeated: false });
      }
    }
    return missed;
  }

  /**
   * The jobs without an acknowledgement of a connected minion for a while; each at most once in that time, and with the
   * maximum number of names. The remaining minions follow the next time.
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
          pending.silent.add(id); // at the end of the order
        }
        if (ids.length > 0) {
          due.push({ delivery: pending.delivery, ids, repeated: pending.repeated });
          pending.repeated = true;
        }
      }
    }
    return due;
  }
}
