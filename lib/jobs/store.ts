/**
 * What a master keeps of its jobs, whatever keeps it: loads, returns, acknowledgements, live output, and which jobs are hidden.
 *
 * Everything is synchronous: storing a return is on the path of every job. Storing is repeatable: a return that is there stays,
 * and storing it again says that it is a duplicate. Any number of threads and processes may use one store at a time.
 * `openJobStore` (open_store.ts) gives the store that the options ask for.
 * @module
 */

import type { LiveBatch } from "../protocol/live_batch.ts";
import type { Acknowledged } from "../protocol/outcome.ts";
import type { Packable } from "../values/msgpack.ts";
import type { Value, ValueMap } from "../values/value.ts";

/** What became of a return: `ignored` ones have no place (`nocache`), or no name that a store may use. */
export type Stored = "stored" | "duplicate" | "ignored";

/** One minion's return. */
export interface JobReturn {
  /** The function's result. */
  readonly return: Value;
  /** Missing in caches of old masters. A map by function for a job of several functions. */
  readonly retcode?: Value;
  /** Missing in caches of old masters, and in returns of `salt-call`. */
  readonly success?: Value;
  /** Whether the minion ended or restarted while it was running the job. */
  readonly interrupted?: true;
  /** The outputter that the return asks for. */
  readonly out?: Value;
}

/** One published job. */
export interface JobEntry {
  /** The job's id. */
  readonly jid: string;
  /** What was published: `fun`, `arg`, `tgt`, `tgt_type`, `user`, … */
  readonly load: ValueMap;
}

/** What a round of cleaning removes. */
export interface CleaningLimits {
  /** The time, in milliseconds since the epoch. */
  readonly nowMs: number;
  /** How old a job may be; 0: nothing goes. */
  readonly keepSeconds: number;
}

/** One minion's acknowledgement. */
export interface Ack {
  /** Whether the minion has begun the job. */
  readonly state: Acknowledged;
  /** When it arrived, in milliseconds since the epoch. */
  readonly sinceMs: number;
}

/** What minions have acknowledged. */
export interface AckStore {
  /**
   * Keeps what minion `id` has acknowledged of job `jid`; nothing for a job that is not in the store.
   * @throws {StoreError} If it cannot be kept.
   */
  save(jid: string, id: string, ack: Ack): void;
  /** The acknowledgements of a job, by minion. */
  all(jid: string): Map<string, Ack>;
}

/** Which jobs are `no_log`. */
export interface NoLogStore {
  /**
   * Marks job `jid`, which is in the store.
   * @param reader The key that returns are sealed for; empty: nobody waits.
   * @throws {StoreError} If it cannot be kept: then the job must not be published.
   */
  save(jid: string, reader: string): void;
  /** For whom the returns of job `jid` are sealed, as {@linkcode save} was told; `undefined` for a job that is not hidden. */
  reader(jid: string): string | undefined;
}

/** The result of appending. `refused`: nobody watches the job, or the file is full. */
export type Appended = "stored" | "duplicate" | "refused";

/** What the commands of watched jobs have written. */
export interface OutputStore {
  /** Says that job `jid`, which is in the store, is watched. @throws {StoreError} If that cannot be kept. */
  open(jid: string): void;
  /** Whether output of minion `id` is stored. */
  has(jid: string, id: string): boolean;
  /**
   * Keeps a batch. One whose number is not above that of the last one is a duplicate.
   * @throws {StoreError} If it cannot be kept.
   */
  append(jid: string, id: string, batch: LiveBatch): Appended;
  /** The stored output of minion `id`, in order. */
  read(jid: string, id: string): LiveBatch[];
  /** The minions with stored output. */
  ids(jid: string): string[];
}

/** The state of a batch job. Times are milliseconds since the epoch, unless a name ends in `S`: seconds. */
export interface BatchState {
  readonly jid: string;
  /** All minions of the batch. */
  readonly minions: readonly string[];
  /** Those that have not been asked yet, in order. */
  readonly pending: readonly string[];
  /** Those that have been asked and have not answered, with the time of asking. */
  readonly active: ReadonlyMap<string, number>;
  /** Those that have returned, with their return codes. */
  readonly done: ReadonlyMap<string, number>;
  /** Those that did not return, with the reason. */
  readonly failed: ReadonlyMap<string, string>;
  /** Minions at a time. */
  readonly size: number;
  readonly fun: Value;
  readonly arg: Value[];
  readonly kwargs: ValueMap;
  readonly tgt: Value;
  readonly tgtType: string;
  /** Whether the first failure halts it. */
  readonly failhard: boolean;
  /** How long the place of a minion stays empty. */
  readonly waitS: number;
  readonly timeoutS: number;
  readonly gatherS: number;
  readonly progressMs: number;
  readonly createdMs: number;
  /** Why it ended before its time; `undefined` if it did not. */
  readonly halted: string | undefined;
  /** `cli`: the command that an operator waits for; `master`: a process in the background. */
  readonly driver: "cli" | "master";
  /** The process that runs it. Not in Salt. */
  readonly pid: number | undefined;
  /** Returners, separated by commas. */
  readonly ret: string;
  readonly user: string;
}

/** The states of batch jobs. */
export interface BatchStore {
  /** Keeps a state, and lists the job among the active ones until it is over. @throws {StoreError} If it cannot be kept. */
  save(state: BatchState): void;
  /** The state of job `jid`; `undefined` if it is no batch job. */
  read(jid: string): BatchState | undefined;
  /** The states of those that are not over, the oldest first. */
  active(): BatchState[];
}

/** The jobs of one master. What cannot be read is not there, and the log of the store is told why. */
export interface JobStore {
  /** What minions have acknowledged. It goes when its job goes, as all that follows. */
  readonly acks: AckStore;
  /** Which jobs are `no_log`. */
  readonly noLog: NoLogStore;
  /** Live output. */
  readonly outputs: OutputStore;
  /** Batch jobs. */
  readonly batches: BatchStore;

  /**
   * Makes a job's place. Without `jid` a new one is made up that no other job of this store has.
   * @param options.nocache Whether the job's returns are not to be stored.
   * @returns The jid.
   * @throws {StoreError} If it cannot be made, or `jid` is no jid. The job can go on with a jid of `makeJid`; it will not be
   * stored.
   */
  prepare(jid?: string, options?: { readonly nocache?: boolean }): string;
  /**
   * Stores the load of a job, without its `key`, and adds to the minions that it is for.
   * @throws {StoreError} If they cannot be stored.
   */
  saveLoad(jid: string, load: ValueMap, minions?: readonly string[]): void;
  /**
   * Stores a return, unless one of that minion is there. A job that nobody prepared gets its place, with the return as its
   * load, as Salt does it.
   * @param load What the minion sent: `jid`, `id`, `return`, and `retcode`, `success`, `out` as far as they are there.
   * What is packed in it must be in the dialect of the disk.
   * @throws {StoreError} If it cannot be stored.
   */
  saveReturn(load: ReadonlyMap<Value, Packable>): Stored;
  /**
   * Gives the return of a `salt-call` (jid `req`) a jid of its own, and stores it as a job.
   * @returns The return with `jid`, `arg`, `tgt` and `tgt_type`; what {@linkcode saveReturn} is to be called with.
   * @throws {StoreError} If it cannot be stored.
   */
  adopt(load: ValueMap): ValueMap;
  /** Notes when the last return of a job came. @throws {StoreError} If that cannot be stored. */
  saveEndTime(jid: string, text: string): void;
  /**
   * Stores what a record of a journal (journal_record.ts) tells of a job, unless it is there.
   * @returns Whether it was such a record.
   * @throws {StoreError} If it cannot be stored.
   */
  restore(record: Value): boolean;

  /** Whether the job exists. */
  exists(jid: string): boolean;
  /** The load of a job, with `Minions` as far as they are known; `undefined` if there is none. */
  getLoad(jid: string): ValueMap | undefined;
  /** The returns of a job by minion, sorted by id. */
  getReturns(jid: string): Map<string, JobReturn>;
  /** The return of one minion, if it is there. */
  getReturn(jid: string, id: string): JobReturn | undefined;
  /** Whether a minion's return is stored. */
  has(jid: string, id: string): boolean;
  /** The time at which a minion's return was stored, in milliseconds since the epoch. */
  returnedMs(jid: string, id: string): number | undefined;
  /** The time of the last return of a job, if stored. */
  getEndTime(jid: string): string | undefined;
  /** Every job with a load, unordered; loads are read one at a time, without `Minions`. */
  walk(): Iterable<JobEntry>;
  /** Every job with a load, the oldest first. */
  list(): JobEntry[];

  /**
   * Removes old jobs, with all that is kept of them, job by job: the caller may pause after each.
   * @returns How many jobs were removed.
   */
  clean(limits: CleaningLimits): Generator<void, number>;
}
