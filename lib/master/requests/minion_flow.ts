/**
 * Bounds what one accepted minion can make a master store and fire, for masters without rules of their own. Honest
 * minions, Python's too, stay far below. A return beyond is answered late, so that the minion sends the next one later,
 * and none is lost; events beyond are dropped, counted and logged. Each thread counts for itself, with its share of the
 * bounds. Syndics speak for many minions, and have none.
 * @module
 */

import { notDone } from "#lib/protocol/acknowledgement.ts";
import { sleep } from "#lib/os/sleep.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import type { ValueMap } from "#lib/values/value.ts";
import type { FlowAnswer, Needs } from "./services.ts";
import { maySpeakForOthers } from "./syndics.ts";

/** A bound of a whole master for one minion: how many at once, and then each second. */
interface Bound {
  readonly burst: number;
  readonly perSecond: number;
}

/** Events: a run of 3,000 states with `state_events` fires as many in some seconds. */
const EVENTS: Bound = { burst: 20_000, perSecond: 500 };
/** Returns: a minion that was away for days sends its spool. */
const RETURNS: Bound = { burst: 5_000, perSecond: 500 };
/** Returns for jobs that the master does not have, each of which makes a job: of `salt-call` and of schedules. */
const NEW_JOBS: Bound = { burst: 1_000, perSecond: 10 };
/** A return is not answered later than this, in milliseconds: minions send it again after five seconds or more. */
const LONGEST_WAIT_MS = 4_000;
/** Returns of one minion that wait in a thread. More are refused: each takes a place among the thread's requests. */
const MAX_WAITING = 4;
/** The log has a line about a minion once in this time, in milliseconds. */
const LOG_MS = 10_000;
/** Minions whose counts a thread remembers. */
const MAX_MINIONS = 20_000;

/** What is left to a minion, and since when. */
interface Left {
  readonly count: number;
  readonly atMs: number;
}

interface Counts {
  readonly left: Map<Bound, Left>;
  waiting: number;
  /** Events that were dropped, and returns that were late, since the last line of the log. */
  dropped: number;
  late: number;
  loggedMs: number;
}

/** What a thread uses to find out whether a minion sends too much. */
type FlowNeeds = Needs<"opts" | "jobs" | "warn" | "park">;

/** What a minion has sent, and whom it is sent to. */
interface Counting {
  readonly counts: Counts;
  readonly services: FlowNeeds;
}

/** What a thread has let each minion send. */
export class MinionFlow {
  readonly #threads: number;
  readonly #now: () => number;
  readonly #sleep: (ms: number) => Promise<void>;
  readonly #minions = new BoundedMap<string, Counts>(MAX_MINIONS);

  /**
   * @param threads How many threads take the requests of minions.
   * @param clock Default: the system's.
   */
  constructor(threads: number, clock: { now(): number; sleep(ms: number): Promise<void> } = { now: Date.now, sleep }) {
    this.#threads = threads;
    this.#now = clock.now;
    this.#sleep = clock.sleep;
  }

  /** See `flow` of services.ts. */
  admit(load: ValueMap, id: string, services: FlowNeeds): FlowAnswer | Promise<FlowAnswer> {
    const cmd = load.get("cmd");
    if ((cmd !== "_return" && cmd !== "_minion_event") || maySpeakForOthers(id, services)) return undefined;
    const counts = this.#of(id);
    const parts = { counts, services };
    return cmd === "_return" ? this.#admitReturn(load, id, parts) : this.#admitEvents(load, id, parts);
  }

  async #admitReturn(load: ValueMap, id: string, { counts, services }: Counting): Promise<FlowAnswer> {
    let waitMs = this.#take(counts, RETURNS);
    if (await makesJob(load, services)) waitMs = Math.max(waitMs, this.#take(counts, NEW_JOBS));
    if (waitMs === 0) return undefined;
    counts.late++;
    this.#log(id, counts, services);
    if (counts.waiting >= MAX_WAITING) return { answer: notDone("This minion returns too much at once") };
    counts.waiting++;
    services.park();
    try {
      await this.#sleep(Math.min(waitMs, LONGEST_WAIT_MS));
    } finally {
      counts.waiting--;
    }
    return undefined;
  }

  #admitEvents(load: ValueMap, id: string, { counts, services }: Counting): FlowAnswer {
    const events = load.get("events");
    const count = Array.isArray(events) ? Math.max(1, events.length) : 1;
    if (this.#left(counts, EVENTS) >= count) {
      this.#take(counts, EVENTS, count);
      return undefined;
    }
    counts.dropped += count;
    this.#log(id, counts, services);
    return { answer: null };
  }

  #of(id: string): Counts {
    const known = this.#minions.get(id);
    if (known !== undefined) return known;
    const counts: Counts = { left: new Map(), waiting: 0, dropped: 0, late: 0, loggedMs: -Infinity };
    this.#minions.set(id, counts);
    return counts;
  }

  #left({ left }: Counts, bound: Bound): number {
    const share = bound.burst / this.#threads;
    const { count, atMs } = left.get(bound) ?? { count: share, atMs: this.#now() };
    // A clock that was set back gives nothing and takes nothing.
    const gained = Math.max(0, this.#now() - atMs) / 1000 * bound.perSecond / this.#threads;
    return Math.min(share, count + gained);
  }

  /** @returns How long it must wait, in milliseconds. */
  #take(counts: Counts, bound: Bound, count = 1): number {
    const perMs = bound.perSecond / this.#threads / 1000;
    // What waits longest need not wait for what came before it in full.
    const left = Math.max(this.#left(counts, bound) - count, -perMs * LONGEST_WAIT_MS);
    counts.left.set(bound, { count: left, atMs: this.#now() });
    return left < 0 ? Math.ceil(-left / perMs) : 0;
  }

  #log(id: string, counts: Counts, { warn }: FlowNeeds): void {
    if (this.#now() - counts.loggedMs < LOG_MS) return;
    const { dropped, late } = counts;
    warn(`Minion ${id} sends too much: ${dropped} events were dropped, and ${late} returns are answered late`);
    Object.assign(counts, { dropped: 0, late: 0, loggedMs: this.#now() });
  }
}

/** Whether storing this return makes a job. */
async function makesJob(load: ValueMap, { opts, jobs: { store } }: FlowNeeds): Promise<boolean> {
  if (!opts.job_cache || opts.ext_job_cache !== "") return false;
  const jid = load.get("jid");
  return jid === "req" || (typeof jid === "string" && !await store.exists(jid));
}
