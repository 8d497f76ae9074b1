/**
 * Limits what one accepted minion can make a master store and fire: by the rules of `flow`, or without one for it by
 * limits that honest minions, Python's too, stay far below. A return beyond is answered late, so that the minion sends
 * the next one later, and none is lost; events beyond are dropped, counted and logged. Each thread counts for itself,
 * with its share. Syndics speak for many minions, and have none.
 * @module
 */

import type { Counted, FlowCounts } from "#lib/flow/flow_counts.ts";
import type { MinionRule, Rate } from "#lib/flow/flow_rules.ts";
import { notDone } from "#lib/protocol/acknowledgement.ts";
import { sleep } from "#lib/os/sleep.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import type { ValueMap } from "#lib/values/value.ts";
import type { FlowAnswer, Needs } from "./services.ts";
import { maySpeakForOthers } from "./syndics.ts";
import { WorkTurns } from "./work_turns.ts";

// The bounds of a whole master for one minion without a rule.
/** Events: a run of 3,000 states with `state_events` fires as many in some seconds. */
const EVENTS: Rate = { burst: 20_000, perSecond: 500 };
/** Returns: a minion that was away for days sends its spool. */
const RETURNS: Rate = { burst: 5_000, perSecond: 500 };
/** Returns for jobs that the master does not have, each of which makes a job: of `salt-call` and of schedules. */
const NEW_JOBS: Rate = { burst: 1_000, perSecond: 10 };
/** A return is not answered later than this, in milliseconds: minions send it again after five seconds or more. */
const LONGEST_WAIT_MS = 4_000;
/** Returns of one minion that wait in a thread. More are refused: each takes a place among the thread's requests. */
const MAX_WAITING = 4;
/** The same of requests that wait as others of that minion have kept the threads busy; no other minion has so many. */
const MAX_TURNS = 16;
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
  /** The rule for the minion. */
  readonly rule: MinionRule | undefined;
  readonly left: Map<Rate, Left>;
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
  /** How many of its requests may wait in a thread. */
  readonly most: number;
}

/** How a {@linkcode MinionFlow} counts. */
export interface MinionFlowOptions {
  /** The rules of `flow`, and the counts of all. Default: none. */
  readonly rules?: readonly MinionRule[];
  readonly counts?: FlowCounts;
  /** Default: the system's. */
  readonly clock?: { now(): number; sleep(ms: number): Promise<void> };
}

/** What a thread has let each minion send. */
export class MinionFlow {
  readonly #threads: number;
  readonly #rules: readonly MinionRule[];
  readonly #totals: FlowCounts | undefined;
  readonly #now: () => number;
  readonly #sleep: (ms: number) => Promise<void>;
  readonly #minions = new BoundedMap<string, Counts>(MAX_MINIONS);
  readonly #work: WorkTurns;

  /** @param threads How many threads take the requests of minions. */
  constructor(threads: number, { rules = [], counts, clock = { now: Date.now, sleep } }: MinionFlowOptions = {}) {
    this.#threads = threads;
    this.#rules = rules;
    this.#totals = counts;
    this.#now = clock.now;
    this.#work = new WorkTurns({ threads, now: () => performance.now() });
    this.#sleep = clock.sleep;
  }

  /** See `flow` of services.ts. */
  admit(
    load: ValueMap,
    id: string,
    services: FlowNeeds,
    { bytes }: { readonly bytes: number } = { bytes: 0 },
  ): FlowAnswer | Promise<FlowAnswer> {
    const cmd = load.get("cmd");
    const isCounted = cmd === "_return" || cmd === "_minion_event";
    const turnMs = this.#work.begin(id, bytes);
    // What no rule bounds costs no look at the minion.
    if ((!isCounted && this.#rules.length === 0 && turnMs === 0) || maySpeakForOthers(id, services)) return undefined;
    const counts = this.#of(id);
    const parts = { counts, services, most: turnMs > 0 ? MAX_TURNS : MAX_WAITING };
    const { bytes: bound } = counts.rule ?? {};
    const waitMs = Math.max(turnMs, bound === undefined ? 0 : this.#take(counts, bound, bytes));
    if (cmd === "_return") return this.#admitReturn(load, id, { ...parts, waitMs });
    const answer = cmd === "_minion_event" ? this.#admitEvents(load, id, parts) : undefined;
    return waitMs === 0 || answer !== undefined ? answer : this.#late(id, waitMs, parts);
  }

  /** See `flow` of services.ts. */
  spent(ms: number): void {
    this.#work.spent(ms);
  }

  async #admitReturn(
    load: ValueMap,
    id: string,
    { waitMs, ...parts }: Counting & { readonly waitMs: number },
  ): Promise<FlowAnswer> {
    const { counts, services } = parts;
    let longestMs = Math.max(waitMs, this.#take(counts, counts.rule?.returns ?? RETURNS));
    if (await makesJob(load, services)) longestMs = Math.max(longestMs, this.#take(counts, NEW_JOBS));
    if (longestMs > 0) return await this.#late(id, longestMs, parts);
    this.#total(counts, "passed");
    return undefined;
  }

  /** Answers later, or refuses what would wait beside others. */
  async #late(id: string, waitMs: number, { counts, services, most }: Counting): Promise<FlowAnswer> {
    counts.late++;
    this.#total(counts, "late");
    this.#log(id, counts, services);
    if (counts.waiting >= most) return { answer: notDone("This minion returns too much at once") };
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
    const bound = counts.rule?.events ?? EVENTS;
    if (this.#left(counts, bound) >= count) {
      this.#take(counts, bound, count);
      this.#total(counts, "passed", count);
      return undefined;
    }
    counts.dropped += count;
    this.#total(counts, "dropped", count);
    this.#log(id, counts, services);
    return { answer: null };
  }

  #of(id: string): Counts {
    const known = this.#minions.get(id);
    if (known !== undefined) return known;
    const rule = this.#rules.find((rule) => rule.matches(id));
    const counts: Counts = { rule, left: new Map(), waiting: 0, dropped: 0, late: 0, loggedMs: -Infinity };
    this.#minions.set(id, counts);
    return counts;
  }

  #total({ rule }: Counts, name: Counted, count = 1): void {
    if (rule !== undefined) this.#totals?.add(rule.rule, name, count);
  }

  #left({ left }: Counts, bound: Rate): number {
    // A thread's share of a small burst is still one.
    const share = Math.max(1, bound.burst / this.#threads);
    const { count, atMs } = left.get(bound) ?? { count: share, atMs: this.#now() };
    // A clock that was set back gives nothing and takes nothing.
    const gained = Math.max(0, this.#now() - atMs) / 1000 * bound.perSecond / this.#threads;
    return Math.min(share, count + gained);
  }

  /** @returns How long it must wait, in milliseconds. */
  #take(counts: Counts, bound: Rate, count = 1): number {
    const perMs = bound.perSecond / this.#threads / 1000;
    // What waits longest need not wait for what came before it in full.
    const left = Math.max(this.#left(counts, bound) - count, -perMs * LONGEST_WAIT_MS);
    counts.left.set(bound, { count: left, atMs: this.#now() });
    return left < 0 ? Math.ceil(-left / perMs) : 0;
  }

  #log(id: string, counts: Counts, { warn }: FlowNeeds): void {
    if (this.#now() - counts.loggedMs < LOG_MS) return;
    const { dropped, late } = counts;
    warn(`Minion ${id} sends too much: ${dropped} events were dropped, and ${late} requests are answered late`);
    Object.assign(counts, { dropped: 0, late: 0, loggedMs: this.#now() });
  }
}

/** Whether storing this return makes a job. */
async function makesJob(load: ValueMap, { opts, jobs: { store } }: FlowNeeds): Promise<boolean> {
  if (!opts.job_cache || opts.ext_job_cache !== "") return false;
  const jid = load.get("jid");
  return jid === "req" || (typeof jid === "string" && !await store.exists(jid));
}
