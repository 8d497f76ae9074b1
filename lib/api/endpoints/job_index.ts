/**
 * The jobs of the job cache in memory, so that lists need not read it: read once, when first asked for, and kept up to
 * date by the master's events.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import type { JobStore } from "#lib/jobs/store.ts";
import { isQuestion, jobMinions } from "#lib/jobs/listing.ts";
import { watchesJobs } from "#lib/protocol/about_jobs.ts";
import { isJid } from "#lib/protocol/jid.ts";
import { outcomeOfReturn, type ReturnOutcome } from "#lib/protocol/outcome.ts";
import { jobSign } from "#lib/protocol/tags.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { sleep } from "#lib/os/sleep.ts";
import { compareStrings, type Value, type ValueMap } from "#lib/values/value.ts";
import type { EventFeed } from "./event_feed.ts";
import type { FedEvents } from "./event_source.ts";

/** A job, without what its minions returned. */
export interface IndexedJob {
  readonly jid: string;
  readonly user: string;
  readonly fun: Value;
  readonly arg: Value;
  readonly tgt: Value;
  readonly tgtType: Value;
  /** The name in the schedule of the minion that ran it by itself; empty: it was published. */
  readonly schedule: string;
  /** The number of minions that it is for, as far as it is known. */
  readonly minions: number;
  /** The outcome of each return. */
  readonly outcomes: ReadonlyMap<string, ReturnOutcome>;
}

/** A job of one minion. */
export interface MinionJob {
  readonly jid: string;
  /** `undefined`: it has not returned. */
  readonly outcome: ReturnOutcome | undefined;
}

type MutableJob = IndexedJob & { readonly outcomes: Map<string, ReturnOutcome> };

/** Jobs whose loads are kept, the newest. */
const MAX_JOBS = 20_000;
/** Jobs whose returns are read at the start, the newest; those of the others are read when they are asked for. */
const MAX_RETURNS_READ = 2_000;
/** Jobs of one minion that are kept. */
const MAX_OF_MINION = 200;
/** Questions of the console whose returns may still come. */
const MAX_QUESTIONS = 500;
/** Jobs that are read before others get a turn. */
const READ_AT_ONCE = 25;

/** What an index is made of. */
interface IndexParts {
  readonly store: Pick<JobStore, "list" | "getLoad" | "getReturns">;
  readonly feed: Pick<EventFeed, "listen">;
  readonly log: Pick<Logger, "warning">;
  /** Jobs that are kept. Default: {@linkcode MAX_JOBS}. */
  readonly maxJobs?: number;
}

/** The jobs of one master. */
export class JobIndex {
  readonly #store: IndexParts["store"];
  readonly #feed: IndexParts["feed"];
  readonly #log: IndexParts["log"];
  readonly #maxJobs: number;
  readonly #jobs = new Map<string, MutableJob>();
  readonly #ofMinion = new Map<string, string[]>();
  readonly #returns = new Map<ReturnOutcome, number>();
  /** The newest questions of the console, whose returns are left out. */
  readonly #questions = new Set<string>();
  #events = 0;
  #ready: Promise<void> | undefined;
  /** The events that were taken so far. */
  #taken: Promise<void> = Promise.resolve();

  constructor(parts: IndexParts) {
    this.#maxJobs = parts.maxJobs ?? MAX_JOBS;
    this.#store = parts.store;
    this.#feed = parts.feed;
    this.#log = parts.log;
  }

  /**
   * The jobs, the newest first. Those that only ask for other jobs are left out.
   * @throws {NoMasterError} If no master is running.
   */
  async newest(): Promise<IndexedJob[]> {
    await this.load();
    await this.#taken;
    return [...this.#jobs.values()].sort((a, b) => compareStrings(b.jid, a.jid));
  }

  /**
   * The jobs of a minion, the newest first.
   * @throws {NoMasterError} If no master is running.
   */
  async ofMinion(id: string): Promise<MinionJob[]> {
    await this.load();
    await this.#taken;
    return [...this.#ofMinion.get(id) ?? []].sort(compareStrings).reverse()
      .map((jid) => ({ jid, outcome: this.#jobs.get(jid)?.outcomes.get(id) }));
  }

  /** What is known of a job, if it was read already. */
  get(jid: string): IndexedJob | undefined {
    return this.#jobs.get(jid);
  }

  /** The returns that events told of since the first reading, by outcome. */
  returns(): ReadonlyMap<ReturnOutcome, number> {
    return this.#returns;
  }

  /** The number of events since the first reading. */
  get events(): number {
    return this.#events;
  }

  /**
   * Reads the jobs, and follows their events from then on; once.
   * @throws {NoMasterError} If no master is running.
   */
  load(): Promise<void> {
    return this.#ready ??= this.#read().catch((error) => {
      this.#ready = undefined;
      throw error;
    });
  }

  async #read(): Promise<void> {
    // Subscribed first: no job is missed between reading and listening. The first event may come before `listen` has
    // returned.
    const listening = this.#feed.listen((batch) => this.#take(batch, () => void listening.then((stop) => stop())));
    await listening;
    let read = 0;
    for await (const { jid, load } of this.#store.list()) {
      await this.#add(jid, load);
      if (++read % READ_AT_ONCE === 0) await sleep(0);
    }
    const newest = [...this.#jobs.keys()].sort(compareStrings).reverse().slice(0, MAX_RETURNS_READ);
    for (const [i, jid] of newest.entries()) {
      for (const [id, { retcode, interrupted, refused }] of await this.#store.getReturns(jid)) {
        this.#addReturn(jid, id, outcomeOfReturn({ retcode, interrupted, refused }));
      }
      if (i % READ_AT_ONCE === 0) await sleep(0);
    }
  }

  #take({ events, missed }: FedEvents, stop: () => void): void {
    if (missed > 0) {
      // What was missed is read again when somebody asks.
      this.#ready = undefined;
      stop();
      return;
    }
    this.#events += events.length;
    for (const { tag, data } of events) {
      // In the order of the events: a return comes after its job.
      this.#taken = this.#taken.then(() => this.#takeEvent(tag, data)).catch((error) => {
        this.#log.warning(`The event ${tag} cannot be read: ${messageOf(error)}`);
      });
    }
  }

  async #takeEvent(tag: string, data: ValueMap): Promise<void> {
    const parts = tag.split("/");
    const [salt, job, jid, what] = parts;
    if (salt !== "salt" || job !== "job" || jid === undefined || !isJid(jid)) return;
    if (what === "new") return await this.#add(jid, new Map(data).set("Minions", data.get("minions") ?? []));
    const sign = jobSign(tag);
    // The event of the job has no metadata, that of its publish has.
    if (what === "publish" && isQuestion(data)) return this.#leaveOut(jid);
    if (what !== "ret" || sign === undefined || this.#questions.has(jid)) return;
    // A job that a schedule or salt-call ran.
    if (!this.#jobs.has(jid)) await this.#add(jid, await this.#store.getLoad(jid) ?? data);
    const outcome = outcomeOfReturn({ retcode: data.get("retcode") });
    this.#returns.set(outcome, (this.#returns.get(outcome) ?? 0) + 1);
    this.#addReturn(jid, sign.id, outcome);
  }

  async #add(jid: string, load: ValueMap): Promise<void> {
    if (watchesJobs(load.get("fun") ?? null) || isQuestion(load) || this.#jobs.has(jid)) return;
    const minions = jobMinions(load.has("Minions") ? load : await this.#store.getLoad(jid) ?? load);
    const [user, schedule] = [load.get("user"), load.get("schedule")];
    this.#jobs.set(jid, {
      jid,
      user: typeof user === "string" ? user : "",
      fun: load.get("fun") ?? null,
      arg: load.get("arg") ?? [],
      tgt: load.get("tgt") ?? null,
      tgtType: load.get("tgt_type") ?? null,
      schedule: typeof schedule === "string" ? schedule : "",
      minions: minions.length,
      outcomes: new Map(),
    });
    for (const id of minions) this.#note(id, jid);
    if (this.#jobs.size > this.#maxJobs) this.#forgetOldest();
  }

  #addReturn(jid: string, id: string, outcome: ReturnOutcome): void {
    const job = this.#jobs.get(jid);
    if (job === undefined) return;
    job.outcomes.set(id, outcome);
    this.#note(id, jid);
  }

  #note(id: string, jid: string): void {
    const jids = this.#ofMinion.get(id) ?? [];
    if (jids.includes(jid)) return;
    jids.push(jid);
    if (jids.length > MAX_OF_MINION) jids.sort(compareStrings).shift();
    this.#ofMinion.set(id, jids);
  }

  /** A question of a page of the console is no job of its minions. */
  #leaveOut(jid: string): void {
    this.#jobs.delete(jid);
    this.#questions.add(jid);
    for (const oldest of [...this.#questions].slice(0, -MAX_QUESTIONS)) this.#questions.delete(oldest);
    this.#forgetAtMinions(new Set([jid]));
  }

  #forgetOldest(): void {
    const oldest = [...this.#jobs.keys()].sort(compareStrings).slice(0, Math.ceil(this.#maxJobs / 10));
    for (const jid of oldest) this.#jobs.delete(jid);
    this.#forgetAtMinions(new Set(oldest));
  }

  #forgetAtMinions(forgotten: ReadonlySet<string>): void {
    for (const [id, jids] of this.#ofMinion) {
      const left = jids.filter((jid) => !forgotten.has(jid));
      if (left.length > 0) this.#ofMinion.set(id, left);
      else this.#ofMinion.delete(id);
    }
  }
}
