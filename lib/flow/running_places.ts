/**
 * Which minions may begin a job now, by the rules of `flow` that bound how many run at once. Each run of a job on a
 * minion takes a place of the first rule that matches the job; the others wait. Places that become free go to the users
 * in turn, and of each user to the jobs in turn. A rule with a clock, without sockets.
 * @module
 */

import { isAboutJobs } from "#lib/protocol/about_jobs.ts";
import type { FlowCounts } from "./flow_counts.ts";
import type { RunningRule } from "./flow_rules.ts";

/** A minion that has the job and is not connected has its place for so long, in milliseconds. */
const GONE_MS = 30_000;
/** A minion that never says that it has the job, as those of Python, has its place for so long, in milliseconds. */
const LONGEST_MS = 86_400_000;

/** A job whose minions take places. */
export interface PlacedJob {
  readonly jid: string;
  readonly user: string;
  /** The minions that have not returned. */
  readonly minions: readonly string[];
  /** Those of them that have been sent the job by an earlier master. */
  readonly sent?: readonly string[];
  /** How long a minion that is not connected has its place, in milliseconds. */
  readonly ttlMs: number;
}

/** Minions that may begin a job. */
export interface Grant {
  readonly jid: string;
  readonly ids: readonly string[];
}

/** A minion that has a place. */
interface Run {
  readonly sinceMs: number;
  /** Since when it is not connected. */
  goneMs: number | undefined;
  hasIt: boolean;
}

interface Job {
  readonly jid: string;
  readonly user: string;
  readonly ttlMs: number;
  readonly rule: RuleState;
  readonly waiting: Set<string>;
  readonly running: Map<string, Run>;
}

interface RuleState {
  readonly rule: RunningRule;
  running: number;
  waiting: number;
  /** The jobs of each user with minions that wait; the first user, and of a user the first job, is the next. */
  readonly users: Map<string, Map<string, Job>>;
}

/** What a {@linkcode RunningPlaces} counts with. */
export interface RunningPlacesParts {
  /** Default: nothing is counted. */
  readonly counts?: FlowCounts;
  /** The number of masters that share the limits. Default: 1. */
  masters?(): number;
}

/** The places of one master. Times are milliseconds of the caller's clock. */
export class RunningPlaces {
  readonly #rules: readonly RuleState[];
  readonly #parts: RunningPlacesParts;
  readonly #jobs = new Map<string, Job>();

  constructor(rules: readonly RunningRule[], parts: RunningPlacesParts = {}) {
    this.#rules = rules.map((rule) => ({ rule, running: 0, waiting: 0, users: new Map() }));
    this.#parts = parts;
  }

  /** Number of jobs of which minions wait or run. */
  get size(): number {
    return this.#jobs.size;
  }

  /** The place of the rule that bounds a job, from 1; `undefined`: none. */
  ruleFor(user: string, funs: readonly string[]): number | undefined {
    return this.#find(user, funs)?.rule.rule;
  }

  #find(user: string, funs: readonly string[]): RuleState | undefined {
    // What ends or finds a job must not wait for the job.
    if (isAboutJobs([...funs])) return undefined;
    return this.#rules.find(({ rule }) => rule.matches(user, funs));
  }

  /** Whether minions of a job wait or run. */
  has(jid: string): boolean {
    return this.#jobs.has(jid);
  }

  /** The minions of a job that wait, and those that have been sent it and have not returned. */
  minionsOf(jid: string): { readonly waiting: readonly string[]; readonly sent: readonly string[] } {
    const job = this.#jobs.get(jid);
    return { waiting: [...job?.waiting ?? []], sent: [...job?.running.keys() ?? []] };
  }

  /** Takes a job that a rule bounds; its minions wait, except for those that have been sent it. */
  add({ jid, user, minions, sent = [], ttlMs }: PlacedJob, funs: readonly string[], nowMs: number): void {
    const rule = this.#find(user, funs);
    if (rule === undefined || this.#jobs.has(jid) || minions.length === 0) return;
    const running = new Set(sent), job: Job = { jid, user, ttlMs, rule, waiting: new Set(), running: new Map() };
    for (const id of minions) {
      if (running.has(id)) job.running.set(id, { sinceMs: nowMs, goneMs: undefined, hasIt: false });
      else job.waiting.add(id);
    }
    rule.running += job.running.size;
    rule.waiting += job.waiting.size;
    this.#jobs.set(jid, job);
    if (job.waiting.size > 0) {
      const jobs = rule.users.get(user) ?? new Map<string, Job>();
      rule.users.set(user, jobs.set(jid, job));
    }
    this.#show(rule);
  }

  /**
   * The minions that may begin now. Those that are not connected come after all others that wait for the same rule.
   * @param isConnected Whether a minion is connected to this master, as far as it knows.
   */
  next(isConnected: (id: string) => boolean, nowMs: number): Grant[] {
    const grants = new Map<string, string[]>();
    for (const rule of this.#rules) {
      for (const connected of [true, false]) this.#deal(rule, (id) => isConnected(id) === connected, { grants, nowMs });
      this.#show(rule);
    }
    return [...grants].map(([jid, ids]) => ({ jid, ids }));
  }

  #deal(
    rule: RuleState,
    may: (id: string) => boolean,
    { grants, nowMs }: { readonly grants: Map<string, string[]>; readonly nowMs: number },
  ): void {
    let free = this.#limit(rule) - rule.running;
    const turns = [...rule.users].map(([user, jobs]) => ({ user, jobs: [...jobs.values()].map(candidates) }));
    while (free > 0 && turns.length > 0) {
      const turn = turns[0], of = turn.jobs[0];
      const id = of === undefined ? undefined : nextOf(of, may);
      if (of === undefined) turns.shift();
      else if (id === undefined) turn.jobs.shift();
      else {
        free--;
        this.#start(of.job, id, nowMs);
        this.#parts.counts?.add(rule.rule.rule, "passed");
        const ids = grants.get(of.job.jid);
        if (ids === undefined) grants.set(of.job.jid, [id]);
        else ids.push(id);
        turns.push(...turns.splice(0, 1));
        turn.jobs.push(...turn.jobs.splice(0, 1));
      }
    }
  }

  /** Gives a place; the user and the job are the last in their turns. */
  #start(job: Job, id: string, nowMs: number): void {
    const { rule } = job;
    job.waiting.delete(id);
    rule.waiting--;
    rule.running++;
    job.running.set(id, { sinceMs: nowMs, goneMs: undefined, hasIt: false });
    this.#takeOut(job);
    if (job.waiting.size === 0) return;
    const jobs = rule.users.get(job.user) ?? new Map<string, Job>();
    rule.users.delete(job.user);
    rule.users.set(job.user, jobs.set(job.jid, job));
  }

  /** Takes a job out of the turns of its user. */
  #takeOut({ rule, user, jid }: Job): void {
    const jobs = rule.users.get(user);
    jobs?.delete(jid);
    if (jobs?.size === 0) rule.users.delete(user);
  }

  #limit({ rule }: RuleState): number {
    // A master's share of a small limit is still one.
    return Math.max(1, Math.floor(rule.running / Math.max(1, this.#parts.masters?.() ?? 1)));
  }

  /** Minion `id` has the job; one that is connected to another master of the cluster takes no place here. */
  acknowledged(jid: string, id: string, isConnected: boolean): void {
    const job = this.#jobs.get(jid), run = job?.running.get(id);
    if (job === undefined) return;
    if (run !== undefined) run.hasIt = true;
    if (!isConnected) this.returned(jid, id);
  }

  /** Minion `id` has returned, or has the job of another master. */
  returned(jid: string, id: string): void {
    const job = this.#jobs.get(jid);
    if (job === undefined) return;
    if (job.running.delete(id)) job.rule.running--;
    if (job.waiting.delete(id)) {
      job.rule.waiting--;
      if (job.waiting.size === 0) this.#takeOut(job);
    }
    this.#show(job.rule);
  }

  /**
   * Minions wait no more.
   * @returns Those of `ids` that did.
   */
  cancel(jid: string, ids: ReadonlySet<string>): string[] {
    const waiting = [...this.#jobs.get(jid)?.waiting ?? []].filter((id) => ids.has(id));
    for (const id of waiting) this.returned(jid, id);
    return waiting;
  }

  /** Takes the places of minions that are gone. */
  look(isConnected: (id: string) => boolean, nowMs: number): void {
    for (const job of this.#jobs.values()) {
      for (const [id, run] of job.running) {
        run.goneMs = isConnected(id) ? undefined : run.goneMs ?? nowMs;
        const patienceMs = run.hasIt ? GONE_MS : job.ttlMs;
        const isGone = run.goneMs !== undefined && nowMs - run.goneMs >= patienceMs;
        if (isGone || (!run.hasIt && nowMs - run.sinceMs >= LONGEST_MS)) this.returned(job.jid, id);
      }
    }
  }

  /** Forgets the jobs of which no minion waits or runs. */
  forgetOver(): void {
    for (const [jid, { waiting, running }] of this.#jobs) {
      if (waiting.size + running.size === 0) this.#jobs.delete(jid);
    }
  }

  #show({ rule, running, waiting }: RuleState): void {
    this.#parts.counts?.set(rule.rule, "running", running);
    this.#parts.counts?.set(rule.rule, "waiting", waiting);
  }
}

/** A job's minions that wait, one after the other. */
interface Candidates {
  readonly job: Job;
  readonly ids: Iterator<string>;
}

function candidates(job: Job): Candidates {
  return { job, ids: job.waiting.values() };
}

function nextOf({ ids }: Candidates, may: (id: string) => boolean): string | undefined {
  for (let next = ids.next(); !next.done; next = ids.next()) if (may(next.value)) return next.value;
  return undefined;
}
