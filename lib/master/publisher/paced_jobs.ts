/**
 * Jobs that a rule of `flow` bounds by `running`: they go to their minions by name, as places become free
 * (lib/flow/running_places.ts). A file says which minions wait and which have been sent the job, for the next master.
 * Knows no sockets.
 * @module
 */

import { messageOf, StoreError } from "#lib/errors.ts";
import type { RunningPlaces } from "#lib/flow/running_places.ts";
import type { Delivery } from "#lib/jobs/redelivery.ts";
import type { UndeliveredJobs } from "#lib/jobs/undelivered.ts";
import type { JobStore } from "#lib/jobs/store.ts";
import { readMoment } from "#lib/os/moment.ts";
import { sleep } from "#lib/os/sleep.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";
import type { JobSign } from "#lib/protocol/tags.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { asList } from "#lib/values/shape.ts";
import { str, type ValueMap } from "#lib/values/value.ts";
import { CancelledReturns, type Ending, endingBy, isEnded } from "./ended_jobs.ts";

/**
 * Places that become free are collected for this time before the next minions are named, in milliseconds: each publish
 * goes to all minions.
 */
const GATHER_MS = 100;
/** Interval of looks for minions that are gone, and of writing the files, in milliseconds. */
const LOOK_MS = 500;
/** How long minions wait for a place if the master is restarted meanwhile, in milliseconds. */
const WAIT_MS = 7 * 86_400_000;
/** Interval of tries to store what could not be stored, in milliseconds. */
const RETRY_MS = 10_000;
/** Jobs that end others and are remembered: in a cluster the job that is to end may come after the one that ends it. */
const MAX_ENDINGS = 100;
/** A minion that is not connected has its place for at least so long, in milliseconds. */
const LEAST_TTL_MS = 1_000;

/** Which minions of a job wait for a place, and which have one now. */
export interface JobTurn {
  readonly jid: string;
  /** The place of the rule in the option, from 1. */
  readonly rule: number;
  readonly waiting: readonly string[];
  readonly named: readonly string[];
}

/** The parts of {@linkcode PacedJobs}. */
export interface PacedJobsParts {
  readonly places: RunningPlaces;
  readonly undelivered: UndeliveredJobs;
  readonly log: Logger;
  /** Whether a minion is connected to this master, as far as it knows. */
  isConnected(id: string): boolean;
  /** Publishes a job to minions by name, or to all of them. */
  send(delivery: Delivery, ids?: readonly string[]): Promise<void>;
  /**
   * Stores that minions do not get a job.
   * @param isFirst Whether clients are told too.
   * @returns Whether all is stored.
   */
  cancel(delivery: Delivery, ids: readonly string[], isFirst: boolean): Promise<boolean>;
  /** The minions that are connected to another master of the cluster, which cancels a job for them. Default: none. */
  elsewhere?(): ReadonlySet<string>;
  /** Tells clients; only of minions that are connected, as others may be connected to another master. */
  tell(turn: JobTurn): Promise<unknown>;
}

/** The rules that bound on how many minions jobs run at once, and what they are kept with. */
export interface Pace {
  readonly places: RunningPlaces;
  /** Loaded only where there are such rules. */
  readonly open: typeof openPacedJobs;
  /** Whether a minion is connected, as far as the master knows; those of Python too. */
  isConnected(id: string): boolean;
  /** The minions that are connected to another master of the cluster. Default: none. */
  elsewhere?(): ReadonlySet<string>;
  /** Fires an event for the clients. */
  tell(turn: JobTurn): Promise<unknown>;
  /** Fires the event of a return. */
  fireReturn(load: ValueMap): Promise<unknown>;
  /** With `durability: machine`: resolves when what was stored is on the disk. */
  commit?(): Promise<void>;
}

/** The jobs of one master that wait for places. */
export class PacedJobs {
  readonly #parts: PacedJobsParts;
  readonly #deliveries = new Map<string, Delivery>();
  readonly #endings: Ending[] = [];
  /** Of each job the minions that do not get it, until that is stored. */
  readonly #cancelled = new Map<string, Set<string>>();
  /** Jobs whose file is old. */
  readonly #changed = new Set<string>();
  #naming: Timer | undefined;
  #looking: Timer | undefined;
  readonly #closing = new AbortController();

  constructor(parts: PacedJobsParts) {
    this.#parts = parts;
  }

  /** Number of jobs of which minions wait or run. */
  get size(): number {
    return this.#deliveries.size;
  }

  /** Whether minions of a job wait or run. */
  has(jid: string): boolean {
    return this.#deliveries.has(jid);
  }

  /** Whether a rule bounds the job. */
  bounds(load: ValueMap): boolean {
    return this.#ruleFor(load) !== undefined;
  }

  #ruleFor(load: ValueMap): number | undefined {
    return this.#parts.places.ruleFor(userOf(load), funsOf(load));
  }

  /**
   * Takes a job that a rule bounds, and sends it to those of its minions that have a place.
   * @param delivery With `sent` if an earlier master has sent it to some of them.
   */
  async take(delivery: Delivery): Promise<void> {
    const { jid, load, minions, ttlMs, sent, cancelled = [] } = delivery;
    if (this.#deliveries.has(jid)) return;
    const job = { jid, user: userOf(load), minions, sent, ttlMs: Math.max(LEAST_TTL_MS, ttlMs) };
    this.#parts.places.add(job, funsOf(load), performance.now());
    this.#deliveries.set(jid, delivery);
    this.#changed.add(jid);
    if (cancelled.length > 0) this.#cancel(delivery, cancelled);
    for (const ending of this.#endings) this.#end(delivery, ending);
    if (sent !== undefined) this.#nameSoon();
    else await this.#name(jid);
    this.#lookSoon();
  }

  /** A job that comes may end others, for minions that wait for them: they are not sent them from now on. */
  endBy(delivery: Delivery): void {
    const ending = endingBy(delivery);
    if (ending === undefined) return;
    this.#endings.push(ending);
    if (this.#endings.length > MAX_ENDINGS) this.#endings.shift();
    for (const each of [...this.#deliveries.values()]) this.#end(each, ending);
  }

  #end(delivery: Delivery, ending: Ending): void {
    const { jid } = delivery, { places, elsewhere } = this.#parts;
    if (!isEnded(jid, ending)) return;
    const ids = places.cancel(jid, ending.ids);
    if (ids.length === 0) return;
    const others = elsewhere?.();
    this.#cancel(delivery, others === undefined ? ids : ids.filter((id) => !others.has(id)));
  }

  /** Minions do not get a job. That is in its file before it is stored. */
  #cancel(delivery: Delivery, ids: readonly string[]): void {
    const { jid } = delivery;
    this.#changed.add(jid);
    if (ids.length === 0) return this.#write();
    const cancelled = this.#cancelled.get(jid) ?? new Set();
    for (const id of ids) cancelled.add(id);
    this.#cancelled.set(jid, cancelled);
    this.#write();
    void this.#keepCancelled(delivery, ids);
  }

  /** Never rejects. What cannot be stored before the master ends is left to the next one. */
  async #keepCancelled(delivery: Delivery, ids: readonly string[]): Promise<void> {
    const { jid } = delivery, { cancel, log } = this.#parts;
    try {
      for (let isFirst = true; !await cancel(delivery, ids, isFirst); isFirst = false) {
        await sleep(RETRY_MS, this.#closing.signal);
      }
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      return log.error(`That job ${jid} is cancelled is not stored: ${messageOf(error)}`);
    }
    const cancelled = this.#cancelled.get(jid);
    for (const id of ids) cancelled?.delete(id);
    if (cancelled?.size === 0) this.#cancelled.delete(jid);
    this.#changed.add(jid);
    this.#write();
  }

  #nameSoon(): void {
    this.#naming ??= setTimeout(() => void this.#name(), GATHER_MS);
  }

  /** @param fresh The job that has just come: clients are told who waits. */
  async #name(fresh?: string): Promise<void> {
    const { places, isConnected, send, log } = this.#parts;
    if (fresh === undefined) this.#naming = undefined;
    const isHere = memoized(isConnected);
    for (const { jid, ids } of places.next(isHere, performance.now())) {
      const delivery = this.#deliveries.get(jid);
      if (delivery === undefined) continue;
      this.#changed.add(jid);
      try {
        await send(delivery, ids.length === delivery.minions.length ? undefined : ids);
      } catch (error) {
        log.error(`Could not publish job ${jid} to the next of its minions: ${messageOf(error)}`);
      }
      if (jid !== fresh) await this.#tell(delivery, { waiting: [], named: ids.filter(isHere) });
    }
    const delivery = fresh === undefined ? undefined : this.#deliveries.get(fresh);
    if (delivery !== undefined) {
      await this.#tell(delivery, { waiting: places.minionsOf(delivery.jid).waiting.filter(isHere), named: [] });
    }
    this.#write();
  }

  async #tell({ jid, load }: Delivery, { waiting, named }: Pick<JobTurn, "waiting" | "named">): Promise<void> {
    if (waiting.length + named.length > 0) {
      await this.#parts.tell({ jid, rule: this.#ruleFor(load) ?? 0, waiting, named });
    }
  }

  /** A minion has a job, or has returned. */
  noteSign({ jid, kind, id }: JobSign): void {
    if (!this.#deliveries.has(jid)) return;
    const { places, isConnected } = this.#parts;
    if (kind === "ret") places.returned(jid, id);
    else places.acknowledged(jid, id, isConnected(id));
    this.#changed.add(jid);
    this.#nameSoon();
  }

  /** Minions have just connected: clients are told for which of them a job waits. */
  async arrived(ids: readonly string[]): Promise<void> {
    for (const delivery of [...this.#deliveries.values()]) {
      const waiting = new Set(this.#parts.places.minionsOf(delivery.jid).waiting);
      await this.#tell(delivery, { waiting: ids.filter((id) => waiting.has(id)), named: [] });
    }
    if (this.size > 0) this.#nameSoon();
  }

  #lookSoon(): void {
    if (this.size > 0) this.#looking ??= setTimeout(() => this.#look(), LOOK_MS);
  }

  #look(): void {
    const { places, isConnected } = this.#parts;
    this.#looking = undefined;
    places.look(memoized(isConnected), performance.now());
    this.#nameSoon();
    this.#write();
    this.#lookSoon();
  }

  /** Writes the files of jobs that have changed, and removes those of jobs that are over. */
  #write(): void {
    const { places, undelivered, log } = this.#parts;
    const now = readMoment();
    try {
      places.forgetOver();
      for (const [jid, delivery] of this.#deliveries) {
        if (places.has(jid) || this.#cancelled.has(jid)) continue;
        this.#deliveries.delete(jid);
        this.#changed.delete(jid);
        undelivered.remove({ ...delivery, ttlMs: WAIT_MS }, now);
        undelivered.remove(delivery, now);
      }
      for (const [jid, delivery] of this.#deliveries) {
        if (!this.#changed.has(jid)) continue;
        const { waiting, sent } = places.minionsOf(jid);
        const cancelled = this.#cancelled.get(jid), minions = [...waiting, ...sent];
        undelivered.save({ ...delivery, minions, sent, cancelled: cancelled && [...cancelled], ttlMs: WAIT_MS }, now);
        this.#changed.delete(jid);
      }
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      log.error(error.message);
    }
  }

  /** Names no more minions; the files are left to the next master. */
  close(): void {
    this.#closing.abort();
    clearTimeout(this.#naming);
    clearTimeout(this.#looking);
    this.#write();
  }
}

function userOf(load: ValueMap): string {
  return str(load.get("user") ?? "");
}

function funsOf(load: ValueMap): string[] {
  return asList(load.get("fun") ?? null).map(str);
}

/** The same answers, each computed once. */
function memoized(isConnected: (id: string) => boolean): (id: string) => boolean {
  const known = new Map<string, boolean>();
  return (id) => {
    const answer = known.get(id) ?? isConnected(id);
    known.set(id, answer);
    return answer;
  };
}

/** The jobs that the rules of `pace` bound. */
export function openPacedJobs(
  pace: Pace,
  { jobs, undelivered, log, send }: Pick<PacedJobsParts, "undelivered" | "log" | "send"> & { readonly jobs: JobStore },
): PacedJobs {
  const { fireReturn: fire, commit = () => Promise.resolve() } = pace;
  const cancelled = new CancelledReturns({ jobs, log, commit, fire });
  return new PacedJobs({
    ...pace,
    undelivered,
    log,
    send,
    cancel: (delivery, ids, isFirst) => cancelled.keep(delivery, ids, isFirst),
  });
}
