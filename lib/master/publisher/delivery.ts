/**
 * Delivers jobs: once to all minions, then again to minions that missed them, until all have acknowledged or the time
 * is over. lib/jobs/redelivery.ts decides what is due. Undelivered jobs are stored for the next master
 * (lib/jobs/undelivered.ts). Knows no sockets.
 * @module
 */

import { messageOf, StoreError } from "#lib/errors.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { decode } from "#lib/values/msgpack.ts";
import { type Delivery, type Missed, Redelivery } from "#lib/jobs/redelivery.ts";
import type { Answered, JobStore } from "#lib/jobs/store.ts";
import { jobSign } from "#lib/protocol/tags.ts";
import type { Pace, PacedJobs } from "./paced_jobs.ts";
import type { UndeliveredJobs } from "#lib/jobs/undelivered.ts";
import { isMap, str, toNumber, type ValueMap } from "#lib/values/value.ts";
import { Gathered } from "#lib/cluster/gathered.ts";
import { readMoment } from "#lib/os/moment.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";

/** Interval of checks for jobs without an acknowledgement, while jobs are pending; in milliseconds. */
const LOOK_MS = 500;
/** Interval of removing finished jobs from the log of undelivered jobs, while it is not empty; in milliseconds. */
const SWEEP_MS = 60_000;

/** How long a minion may miss a job that has waited for a place while the master was restarted, in milliseconds. */
const PACED_TTL_MS = 60_000;
/** Maximum number of minions that a log line about an ended job names. */
const NAMED_IDS = 10;

/** Jobs of one question to the store. */
const ASKED_JOBS = 500;
const NOTHING: Answered = { acknowledged: new Set(), returned: new Set() };

/** What is asked of the minions of a job. */
interface Question {
  readonly delivery: Delivery;
  answer: Answered;
}

/** The parts of a {@linkcode JobDelivery}. */
export interface DeliveryParts {
  /** The job store, with the acknowledgements. */
  readonly jobs: JobStore;
  /** The jobs that are still to be delivered. */
  readonly undelivered: UndeliveredJobs;
  readonly log: Logger;
  /** Whether a minion is connected, and acknowledges jobs. */
  isPresent(id: string): boolean;
  /**
   * Publishes a load.
   * @param minions The target minions, as far as the master knows.
   */
  publish(load: ValueMap, minions: readonly string[]): Promise<void>;
  /** The rules that bound on how many minions jobs run at once. Default: none. */
  readonly pace?: Pace;
}

/** The jobs of one master that are being delivered. */
export class JobDelivery {
  readonly #parts: DeliveryParts;
  readonly #redelivery: Redelivery;
  readonly #paced: PacedJobs | undefined;
  /** A master that starts has hundreds of jobs: the store is asked for all at once. */
  readonly #questions = new Gathered<Question>((some) => this.#ask(some), ASKED_JOBS);
  #looking: Timer | undefined;
  #sweeping: Timer | undefined;

  /** {@linkcode takeUp} starts it. */
  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    const { jobs, undelivered, log, pace } = parts;
    const send = (delivery: Delivery, ids?: readonly string[]) => this.#send(delivery, ids);
    this.#paced = pace?.open(pace, { jobs, undelivered, log, send });
    this.#redelivery = new Redelivery((delivery) => {
      // It has a file until the last of its minions has returned.
      if (!this.#paced?.has(delivery.jid)) this.#forgetting(() => parts.undelivered.remove(delivery, readMoment()));
      this.#lookSoon();
    });
  }

  /** Number of jobs with acknowledgements missing. */
  get size(): number {
    return this.#redelivery.size;
  }

  /** Number of jobs of which minions wait for a place or have one. */
  get paced(): number {
    return this.#paced?.size ?? 0;
  }

  /** Continues with the undelivered jobs of the last master, for minions that have not acknowledged them. */
  async takeUp(): Promise<void> {
    const { undelivered, log } = this.#parts;
    const { deliveries, expired } = undelivered.left(readMoment(), log.error);
    // One may have been taken and not done when the last master was killed.
    for (const delivery of deliveries) this.#paced?.endBy(delivery);
    await Promise.all(deliveries.map(async (delivery) => {
      if (this.#paced?.bounds(delivery.load)) return await this.#takeUpPaced(delivery, this.#paced);
      this.#redelivery.published({ ...delivery, minions: await this.#missingIn(delivery) }, performance.now());
    }));
    await Promise.all(expired.map(async (delivery) => {
      const missing = await this.#missingIn(delivery);
      if (missing.length === 0) return;
      const idList = missing.slice(0, NAMED_IDS).join(", ") + (missing.length > NAMED_IDS ? ", …" : "");
      log.warning(`Job ${delivery.jid} ended before ${missing.length} minions had it, while no master ran: ${idList}`);
    }));
    this.#lookSoon();
    this.#sweep();
    if (this.size > 0) log.info(`Jobs that the last master did not deliver: ${this.size}`);
  }

  /** Continues with a job that goes to its minions a few at a time. */
  async #takeUpPaced(delivery: Delivery, paced: PacedJobs): Promise<void> {
    const { acknowledged, returned } = await this.#answersTo(delivery);
    const minions = delivery.minions.filter((id) => !returned.has(id));
    const sent = minions.filter((id) => acknowledged.has(id) || delivery.sent?.includes(id));
    const ttlMs = Math.min(delivery.ttlMs, PACED_TTL_MS);
    await paced.take({ ...delivery, minions, sent, ttlMs });
    const silent = sent.filter((id) => !acknowledged.has(id));
    if (silent.length > 0) this.#redelivery.publishedMore({ ...delivery, minions: silent, ttlMs }, performance.now());
  }

  /** The minions that have neither acknowledged a job nor returned. */
  async #missingIn(delivery: Delivery): Promise<string[]> {
    const { acknowledged, returned } = await this.#answersTo(delivery);
    return delivery.minions.filter((id) => !acknowledged.has(id) && !returned.has(id));
  }

  /** What has come of the minions of a job. */
  async #answersTo(delivery: Delivery): Promise<Answered> {
    const question: Question = { delivery, answer: NOTHING };
    try {
      await this.#questions.add(question);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      // Who has the job drops it when it comes again.
      this.#parts.log.error(`Job ${delivery.jid} is delivered to all its minions again: ${error.message}`);
    }
    return question.answer;
  }

  async #ask(questions: readonly Question[]): Promise<void> {
    const answers = await this.#parts.jobs.answered(questions.map(({ delivery }) => delivery));
    for (const question of questions) question.answer = answers.get(question.delivery.jid) ?? NOTHING;
  }

  /** An idle master does not check. */
  #lookSoon(): void {
    if (this.size > 0) this.#looking ??= setTimeout(() => this.#look(), LOOK_MS);
  }

  #look(): void {
    this.#looking = undefined;
    for (const missed of this.#redelivery.due(this.#parts.isPresent, performance.now())) void this.#deliverDue(missed);
    this.#lookSoon();
  }

  /** Called when the log of undelivered jobs is not empty. */
  #sweepLater(): void {
    this.#sweeping ??= setTimeout(() => this.#sweep(), SWEEP_MS);
  }

  #sweep(): void {
    this.#sweeping = undefined;
    this.#forgetting(() => {
      if (this.#parts.undelivered.sweepLog(readMoment())) this.#sweepLater();
    });
  }

  #forgetting(remove: () => void): void {
    try {
      remove();
    } catch (error) {
      this.#parts.log.error(`An undelivered job could not be removed: ${messageOf(error)}`);
    }
  }

  /**
   * Delivers a job for the first time. A present minion can send live output, a Python minion cannot. If the target has
   * both, the present ones get a separate publish first; they drop the common one as a duplicate.
   * @param pushed The message of an MWorker: a load, its minions and its time limit.
   * @throws {TypeError} If that is not a load.
   * @throws {MsgpackError} If it cannot be read.
   */
  async deliver(pushed: Uint8Array): Promise<void> {
    const { again, ...delivery } = parseDelivery(pushed);
    this.#paced?.endBy(delivery);
    if (again) return void this.#takeUpOne(delivery);
    if (this.#paced?.bounds(delivery.load)) return await this.#paced.take(delivery);
    await this.#send(delivery);
  }

  /** Publishes a job for the first time: to those of its minions that have a place, or to all. */
  async #send(delivery: Delivery, ids?: readonly string[]): Promise<void> {
    const { publish, isPresent } = this.#parts;
    const minions = ids ?? delivery.minions;
    // First, because a fast minion may acknowledge at once.
    if (ids === undefined) this.#redelivery.published(delivery, performance.now());
    else this.#redelivery.publishedMore({ ...delivery, minions }, performance.now());
    this.#lookSoon();
    this.#sweepLater();
    const load = ids === undefined ? delivery.load : loadFor(delivery.load, ids);
    const able = delivery.live ? minions.filter(isPresent) : [];
    if (able.length > 0 && able.length === minions.length) return await publish(withLive(load), minions);
    if (able.length > 0) await publish(withLive(loadFor(load, able)), able);
    await publish(load, minions);
  }

  /**
   * Continues with a job that masters of the cluster have published: those of its minions that have not answered get it
   * by name, when they connect or because they are silent.
   */
  async #takeUpOne(delivery: Delivery): Promise<void> {
    if (this.#paced?.bounds(delivery.load)) return await this.#takeUpPaced(delivery, this.#paced);
    const missing = await this.#missingIn(delivery);
    if (this.#redelivery.has(delivery.jid) || missing.length === 0) return;
    this.#redelivery.published({ ...delivery, minions: missing }, performance.now());
    this.#lookSoon();
    this.#sweepLater();
  }

  /**
   * Publishes a job again, by name for connected minions without an acknowledgement: a minion that has run it may have
   * forgotten it by now, and a newly accepted minion is not a target.
   */
  async #deliverAgain({ delivery: { load, live }, ids }: Missed): Promise<void> {
    const idsLoad = loadFor(load, ids);
    await this.#parts.publish(live ? withLive(idsLoad) : idsLoad, ids);
  }

  /**
   * Delivers a job again to silent minions. From the second time on, only to those of which the store has no answer
   * either: the event of an answer is lost with a master, or a Publisher, that dies.
   */
  async #deliverDue(missed: Missed): Promise<void> {
    if (!missed.repeated) return await this.#deliverAgain(missed);
    const { delivery } = missed, { jid } = delivery;
    const missing = new Set(await this.#missingIn(delivery));
    for (const id of missed.ids) if (!missing.has(id)) this.#redelivery.noteAnswer(jid, id, performance.now());
    const ids = missed.ids.filter((id) => missing.has(id));
    if (ids.length > 0 && this.#redelivery.has(jid)) await this.#deliverAgain({ ...missed, ids });
  }

  /** Minions `ids` have just connected: the jobs that they missed are published again. */
  async arrived(ids: readonly string[]): Promise<void> {
    for (const missed of this.#redelivery.arrived(ids, performance.now())) await this.#deliverAgain(missed);
    await this.#paced?.arrived(ids);
  }

  /**
   * Handles the tag of an event on the bus. The tag is enough: the data of thousands of returns must not be read again
   * here.
   */
  noteEvent(tag: string): void {
    const sign = jobSign(tag);
    if (sign === undefined) return;
    this.#redelivery.noteAnswer(sign.jid, sign.id, performance.now());
    this.#paced?.noteSign(sign);
  }

  /** Stops checking. Undelivered jobs are left to the next master. */
  close(): void {
    clearTimeout(this.#looking);
    clearTimeout(this.#sweeping);
    this.#paced?.close();
  }
}

/** The load for these minions only. */
function loadFor(load: ValueMap, ids: readonly string[]): ValueMap {
  return new Map([...load, ["tgt", [...ids]], ["tgt_type", "list"]]);
}

/** The load with the request for live output. */
function withLive(load: ValueMap): ValueMap {
  return new Map([...load, ["live", true]]);
}

/**
 * Parses a message of an MWorker: a load, its minions and its time limit; or of the cluster, which says whether the job
 * was published before.
 */
function parseDelivery(frame: Uint8Array): Delivery & { readonly again: boolean } {
  const pushed = decode(frame, "disk");
  const load = isMap(pushed) ? pushed.get("load") : undefined;
  if (!isMap(pushed) || !isMap(load)) throw new TypeError("a message to publish is not a load");
  const minions = pushed.get("minions");
  return {
    jid: str(load.get("jid") ?? ""),
    load,
    again: pushed.get("again") === true,
    live: pushed.get("live") === true,
    minions: Array.isArray(minions) ? minions.filter((id) => typeof id === "string") : [],
    ttlMs: toNumber(pushed.get("ttl_ms")) ?? 0,
  };
}
