/**
 * What must be true at the end: the promises of docs/reliability.md, written down as they are made, and compared with
 * what is on the master's disk.
 * @module
 */

import type { Outcome } from "#lib/protocol/outcome.ts";
import type { Order } from "./reactor.ts";
import { world } from "#tests/simulation/world/world.ts";

/** What `salt` has told of a job that runs without errors on minions that all have accepted keys. */
const POSSIBLE: ReadonlySet<Outcome> = new Set<Outcome>([
  "interrupted",
  "not connected",
  "not received",
  "received",
  "returned",
  "running",
]);

/** What is stored, as one looks at it from outside. */
export interface StoredReturns {
  /** Whether a return is stored. */
  has(jid: string, id: string): boolean;
}

/** What the client of a job was told. */
interface Told {
  readonly outcomes: Map<string, Outcome>;
  /** Whether it waits, has come to its end, or has lost the master. */
  state: "waits" | "ended" | "lost";
  /** The process of the client's master, and how often it had died when the job was confirmed. */
  readonly master: string;
  readonly deathsBefore: number;
}

/** Who has confirmed a job, and when it ends, if it does, in milliseconds of the world. */
export interface ConfirmedBy {
  readonly master: string;
  readonly endMs?: number;
  /** Whether a client waits for its outcomes. */
  readonly isTold: boolean;
  /** Whether each minion must return it. Default: yes, if its time is long enough. */
  readonly isPromised?: boolean;
}

/** Milliseconds after the last fault in which every minion is connected again. */
const RECOVERY_MS = 45_000;

/** What was counted. */
export interface Counts {
  readonly jobs: number;
  /** Orders that the reactor had to do. */
  readonly orders: number;
  readonly runs: number;
  readonly told: Readonly<Record<string, number>>;
}

/** The record of one run. */
export class Ledger {
  readonly #confirmed = new Map<string, readonly string[]>();
  readonly #runs = new Map<string, number>();
  readonly #acknowledged = new Set<string>();
  readonly #told = new Map<string, Told>();
  readonly #deaths = new Map<string, number>();
  readonly #broken: string[] = [];
  /** The ids of the jobs that were published for an order, by its number. */
  readonly #orderJobs = new Map<number, Set<string>>();
  #orders: readonly Order[] = [];
  /** Returns that were seen to be stored. */
  readonly #stored = new Set<string>();
  /** When a job ends that may not wait for ever, in milliseconds of the world. */
  readonly #ends = new Map<string, number>();
  readonly #unpromised = new Set<string>();
  /** Returns that a minion has dropped, because it may keep only so many. */
  readonly #dropped = new Set<string>();
  /** When nothing goes wrong any more. */
  #quietMs = Infinity;
  /** Whether every job has been done, and none may begin. */
  #isOver = false;

  /** Number of jobs that the master has confirmed, of runs, and of outcomes that clients were told. */
  get counts(): Counts {
    const told: Record<string, number> = {};
    for (const { outcomes, state } of this.#told.values()) {
      for (const outcome of outcomes.values()) told[outcome] = (told[outcome] ?? 0) + 1;
      if (state === "lost") told["master lost"] = (told["master lost"] ?? 0) + 1;
    }
    return {
      jobs: this.#confirmed.size,
      orders: this.#orders.length,
      runs: [...this.#runs.values()].reduce((sum, count) => sum + count, 0),
      told,
    };
  }

  /** A master has given an operator the id of a job, and has named its minions. */
  confirm(jid: string, ids: readonly string[], { master, endMs, isTold, isPromised = true }: ConfirmedBy): void {
    if (this.#confirmed.has(jid)) this.#breaks(`${jid} is the id of two jobs`);
    this.#confirmed.set(jid, ids);
    if (endMs !== undefined) this.#ends.set(jid, endMs);
    if (!isPromised) this.#unpromised.add(jid);
    for (const key of this.#runs.keys()) this.#checkTarget(key);
    if (isTold) {
      this.#told.set(jid, { outcomes: new Map(), state: "waits", master, deathsBefore: this.#deathsOf(master) });
    }
    world().note(`confirmed ${jid} for ${ids.join(",")}`);
  }

  /** A process has died. */
  die(name: string): void {
    this.#deaths.set(name, this.#deathsOf(name) + 1);
  }

  #deathsOf(name: string): number {
    return this.#deaths.get(name) ?? 0;
  }

  #toldOf(jid: string): Told {
    const told = this.#told.get(jid);
    if (told === undefined) throw new Error(`Nobody waits for ${jid}`);
    return told;
  }

  /** The client of a job names the outcome of a minion. */
  tell(jid: string, id: string, outcome: Outcome): void {
    const { outcomes } = this.#toldOf(jid);
    world().note(`told ${jid} of ${id}: ${outcome}`);
    const text = `${jid} on ${id} is told as ${outcome}`;
    if (outcomes.has(id)) this.#breaks(`${text} after ${outcomes.get(id)}`);
    if (!this.#confirmed.get(jid)?.includes(id)) this.#breaks(`${text}, and is no target`);
    if (!POSSIBLE.has(outcome)) this.#breaks(`${text}, which cannot be`);
    if (outcome === "running" && !this.#runs.has(`${jid} on ${id}`)) this.#breaks(`${text}, and it has not begun`);
    if (outcome === "interrupted" && this.#deathsOf(id) === 0) this.#breaks(`${text}, and it has not died`);
    outcomes.set(id, outcome);
  }

  /** The client of a job has come to its end. */
  close(jid: string): void {
    const told = this.#toldOf(jid);
    told.state = "ended";
    for (const id of this.#confirmed.get(jid) ?? []) {
      if (!told.outcomes.has(id)) this.#breaks(`${jid}: ${id} is not named`);
    }
  }

  /** The client of a job has ended because the master did. */
  loseMaster(jid: string): void {
    const told = this.#toldOf(jid);
    told.state = "lost";
    world().note(`the client of ${jid} has lost the master`);
    if (this.#deathsOf(told.master) === told.deathsBefore) {
      this.#breaks(`${jid}: the master is said to be lost, and is not`);
    }
  }

  /** A minion begins to run a job. */
  begin(jid: string, id: string, store: StoredReturns): void {
    const key = `${jid} on ${id}`;
    const count = (this.#runs.get(key) ?? 0) + 1;
    this.#runs.set(key, count);
    world().note(`runs ${key}`);
    if (count > 1) this.#breaks(`${key} ran ${count} times`);
    if (store.has(jid, id)) this.#breaks(`${key} began after its return was stored`);
    if (this.#isOver) this.#breaks(`${key} began when every job had been done`);
    this.#checkTarget(key);
  }

  #checkTarget(key: string): void {
    const [jid, id] = key.split(" on ");
    if (this.#confirmed.get(jid)?.includes(id) === false) this.breaks(`${key} ran, and it is no target`);
  }

  /** Whether a minion has begun a job. */
  hasBegun(jid: string, id: string): boolean {
    return this.#runs.has(`${jid} on ${id}`);
  }

  /** The confirmed jobs that a minion has not begun, and which are not over in the next seconds. */
  waitingFor(id: string, seconds: number): string[] {
    const untilMs = world().nowMs + 1000 * seconds;
    return [...this.#confirmed].filter(([jid, ids]) =>
      ids.includes(id) && !this.hasBegun(jid, id) && (this.#ends.get(jid) ?? Infinity) > untilMs
    ).map(([jid]) => jid);
  }

  /** Whether a minion has begun a job, or has returned it as interrupted before. */
  hasGot(jid: string, id: string): boolean {
    return this.hasBegun(jid, id) || this.#acknowledged.has(`${jid} ${id}`);
  }

  /** A minion has dropped a return. */
  drop(jid: string, id: string): void {
    this.#dropped.add(`${jid} ${id}`);
  }

  /** Whether minions have dropped returns: their jobs are never known to be done. */
  get hasDropped(): boolean {
    return this.#dropped.size > 0;
  }

  /** Nothing goes wrong from now on. */
  calm(): void {
    this.#quietMs = world().nowMs;
  }

  /** Every job has been done: none may begin any more. */
  finish(): void {
    this.#isOver = true;
  }

  /** A reactor publishes the job of an order. */
  order(order: number, jid: string): void {
    // A dead process goes on until it waits; what it does has not happened.
    if (world().process?.alive === false) return;
    world().note(`the reactor publishes ${jid} for the order ${order}`);
    const jobs = this.#orderJobs.get(order) ?? new Set();
    this.#orderJobs.set(order, jobs.add(jid));
    if (jobs.size > 1) this.#breaks(`the order ${order} has ${jobs.size} jobs: ${[...jobs].join(", ")}`);
  }

  /** These orders must be done. */
  promiseOrders(orders: readonly Order[]): void {
    this.#orders = orders;
    world().note(`orders: ${orders.map(({ order }) => order).join(", ")}`);
  }

  #undone(store: StoredReturns): number[] {
    return this.#orders.filter(({ order, minion }) =>
      ![...this.#orderJobs.get(order) ?? []].some((jid) => store.has(jid, minion))
    ).map(({ order }) => order);
  }

  /** The master has acknowledged a return. */
  acknowledge(jid: string, id: string): void {
    this.#acknowledged.add(`${jid} ${id}`);
    world().note(`acknowledged ${jid} of ${id}`);
  }

  /** Something that was promised is not true. */
  breaks(text: string): void {
    if (!this.#broken.includes(text)) this.#breaks(text);
  }

  #breaks(text: string): void {
    world().note(`BROKEN ${text}`);
    this.#broken.push(text);
  }

  /** Whether every confirmed job has a return of each of its minions, and every order is done. */
  isComplete(store: StoredReturns): boolean {
    const seen = { has: (jid: string, id: string) => this.#hasSeen(store, jid, id) };
    return this.#waiting.length === 0 && this.#missing(seen).length === 0 && this.#undone(seen).length === 0;
  }

  /** Whether a return was stored once: each is asked for again and again, at last by {@linkcode violations}. */
  #hasSeen(store: StoredReturns, jid: string, id: string): boolean {
    const key = `${jid} ${id}`;
    if (this.#stored.has(key) || this.#dropped.has(key)) return true;
    if (!store.has(jid, id)) return false;
    this.#stored.add(key);
    return true;
  }

  #missing(store: StoredReturns): string[] {
    return [...this.#confirmed].filter(([jid]) => this.#isPromised(jid)).flatMap(([jid, ids]) =>
      ids.filter((id) => !store.has(jid, id)).map((id) => `${jid} on ${id}`)
    );
  }

  /** Whether a job may be delivered for so long that every minion is there. */
  #isPromised(jid: string): boolean {
    return !this.#unpromised.has(jid) && (this.#ends.get(jid) ?? Infinity) > this.#quietMs + RECOVERY_MS;
  }

  /** The jobs whose clients wait. */
  get #waiting(): string[] {
    // Who has dropped its return is waited for without an end.
    const dropped = new Set([...this.#dropped].map((key) => key.split(" ")[0]));
    return [...this.#told].filter(([jid, { state }]) => state === "waits" && !dropped.has(jid)).map(([jid]) => jid);
  }

  /** What was told as returned, and is not stored. */
  #toldWrong(store: StoredReturns): string[] {
    return [...this.#told].flatMap(([jid, { outcomes }]) =>
      [...outcomes].filter(([id, outcome]) =>
        (outcome === "returned" || outcome === "interrupted") && !store.has(jid, id)
      )
        .map(([id, outcome]) => `${jid} on ${id} was told as ${outcome}, and is not stored`)
    );
  }

  /** The promises that were broken, each in a line. */
  violations(store: StoredReturns): string[] {
    const seen = { has: (jid: string, id: string) => this.#hasSeen(store, jid, id) };
    const lost = [...this.#acknowledged].filter((key) => {
      const [jid, id] = key.split(" ");
      return !store.has(jid, id);
    });
    return [
      ...this.#broken,
      ...lost.map((key) => `the return ${key} was acknowledged, and is not stored`),
      ...this.#toldWrong(store),
      ...this.#waiting.map((jid) => `the client of ${jid} still waits`),
      ...this.#missing(seen).map((key) => `${key}: confirmed, and there is no return`),
      ...this.#undone(seen).map((order) => `the order ${order} is in the log of events, and was not done`),
    ];
  }
}
