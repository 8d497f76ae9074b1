/**
 * The interface of job stores, which hold the loads, returns, acknowledgements and live output of a master's jobs,
 * and which jobs are hidden.
 *
 * A store answers by promises: it may be a database behind a thread. Storing is idempotent: an existing return stays,
 * and storing it again gives `duplicate`. Any number of threads and processes may use one store at a time.
 * `openJobStore` (lib/stores/open_store.ts) gives the store that the options ask for. The files' own code is
 * synchronous ({@linkcode SyncJobStore}), and async_store.ts makes a store of it.
 * @module
 */

import type { JobSearch } from "./listing.ts";
import type { LiveBatch } from "#lib/protocol/live_batch.ts";
import type { AcknowledgedState } from "#lib/protocol/outcome.ts";
import type { Packable } from "#lib/values/msgpack.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** The result of storing a return. `ignored`: the job has `nocache`, or the id cannot be used as a name in a store. */
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
  /** Whether the minion did not run the job, because of its operator's signature. */
  readonly refused?: true;
  /** Whether it was not sent the job, whose wait for its turn was ended. */
  readonly cancelled?: true;
  /** Its record in the chain of the minion's jobs, `[n, hash]`. */
  readonly chain?: Value;
  /** The outputter that the return asks for. */
  readonly out?: Value;
}

/** One published job. */
export interface JobEntry {
  readonly jid: string;
  /** What was published: `fun`, `arg`, `tgt`, `tgt_type`, `user`, … */
  readonly load: ValueMap;
}

/** The limits of a round of cleaning. */
export interface CleaningLimits {
  /** The time, in milliseconds since the epoch. */
  readonly nowMs: number;
  /** Maximum age of a job; 0: no job is removed. */
  readonly keepSeconds: number;
}

/** One minion's acknowledgement. */
export interface Ack {
  /** Whether the minion has begun the job. */
  readonly state: AcknowledgedState;
  /** When it arrived, in milliseconds since the epoch. */
  readonly sinceMs: number;
}

/** Minions of a job of which something has come. */
export interface Answered {
  readonly acknowledged: ReadonlySet<string>;
  readonly returned: ReadonlySet<string>;
}

/** Minions of a job. */
export interface AskedJob {
  readonly jid: string;
  readonly minions: readonly string[];
}

/** The acknowledgements of minions. */
export interface AckStore {
  /**
   * Stores the acknowledgement of job `jid` by minion `id`; does nothing for a job that is not in the store.
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
   * @param reader The key that returns are sealed for; empty: no client waits for them.
   * @throws {StoreError} If it cannot be kept: then the job must not be published.
   */
  save(jid: string, reader: string): void;
  /**
   * The key that the returns of job `jid` are sealed for, as passed to {@linkcode save}; `undefined` for a job that is
   * not hidden.
   */
  reader(jid: string): string | undefined;
}

/** The result of appending. `refused`: the job is not watched, or the file is full. */
export type Appended = "stored" | "duplicate" | "refused";

/** The output of the commands of watched jobs. */
export interface OutputStore {
  /**
   * Marks job `jid`, which is in the store, as watched.
   * @throws {StoreError} If that cannot be kept.
   */
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
  /** Those that do not have the job yet, in order. */
  readonly pending: readonly string[];
  /** Those that have the job and have not returned, with the time of publishing. */
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
  /** Time between the answer of a minion and the start of the next one in its place. */
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
  /**
   * Keeps a state, and lists the job among the active ones until it is over.
   * @throws {StoreError} If it cannot be kept.
   */
  save(state: BatchState): void;
  /** The state of job `jid`; `undefined` if it is not a batch job. */
  read(jid: string): BatchState | undefined;
  /** The states of those that are not over, the oldest first. */
  active(): BatchState[];
}

/** What {@linkcode JobStore.list} gives. */
export interface JobQuery extends JobSearch {
  /** At most so many, the newest of those that fit. Default: all. */
  readonly limit?: number;
  /** Only jobs whose ids are smaller. */
  readonly before?: string;
  /** Whether the newest job comes first; so it is with `limit` too. Default: in no order. */
  readonly newestFirst?: boolean;
  /** Whether jobs are left out that only ask for other jobs. */
  readonly hidesWatching?: boolean;
}

/** The same methods, each of which resolves when it is done. */
export type Promised<T> = {
  readonly [K in keyof T]: T[K] extends (...given: infer Given) => infer Result ? (...given: Given) => Promise<Result>
    : never;
};

/** The methods of {@linkcode SyncJobStore} that are promises in every store. */
type Promisable = Promised<Omit<SyncJobStore, "acks" | "noLog" | "outputs" | "batches" | "walk" | "clean">>;

/**
 * The jobs of one master. The methods are those of {@linkcode SyncJobStore}, as promises. Unreadable data counts as
 * missing, and the reason is logged.
 */
export interface JobStore extends Promisable {
  /** The acknowledgements of minions. Removed with their job, like everything below. */
  readonly acks: Promised<AckStore>;
  /** Which jobs are `no_log`. */
  readonly noLog: Promised<NoLogStore>;
  /** Live output. */
  readonly outputs: Promised<OutputStore>;
  /** Batch jobs. */
  readonly batches: Promised<BatchStore>;

  /**
   * The jobs with a load that fit, without their `Minions`; loads are read a few at a time.
   * @throws {InvocationError} For an invalid search.
   * @throws {StoreError} If they cannot be read.
   */
  list(query?: JobQuery): AsyncIterable<JobEntry>;
  /**
   * Removes old jobs, with all their data, and pauses often.
   * @param signal Ends it early.
   * @returns How many jobs were removed.
   */
  clean(limits: CleaningLimits, signal?: AbortSignal): Promise<number>;
  /** Ends it: what was asked for before is done. */
  close(): Promise<void>;
}

/** The jobs of one master in its files, without waiting. */
export interface SyncJobStore {
  /** The acknowledgements of minions. Removed with their job, like everything below. */
  readonly acks: AckStore;
  /** Which jobs are `no_log`. */
  readonly noLog: NoLogStore;
  /** Live output. */
  readonly outputs: OutputStore;
  /** Batch jobs. */
  readonly batches: BatchStore;

  /**
   * Makes the directory or record of a job. Without `jid`, a new id is made that no other job of this store has.
   * @param options.nocache Whether the job's returns are not to be stored.
   * @returns The jid.
   * @throws {StoreError} If it cannot be made, or `jid` is not a jid. The job can continue with a jid of `makeJid`; it
   * will not be stored.
   */
  prepare(jid?: string, options?: { readonly nocache?: boolean }): string;
  /**
   * Stores the load of a job, without its `key`, and adds to the minions that it is for.
   * @throws {StoreError} If they cannot be stored.
   */
  saveLoad(jid: string, load: ValueMap, minions?: readonly string[]): void;
  /**
   * Stores for which minions below a syndic a job is.
   * @param syndic A valid id.
   * @throws {StoreError} If they cannot be stored.
   */
  saveMinionsBelow(jid: string, minions: readonly string[], syndic: string): void;
  /**
   * Stores a return, unless there is one of that minion. A job that was not prepared is created, with the return as its
   * load, as in Salt.
   * @param load The minion's message: `jid`, `id`, `return`, and `retcode`, `success`, `out` as far as they are there.
   * Packed values in it must be in the dialect of the disk.
   * @throws {StoreError} If it cannot be stored.
   */
  saveReturn(load: ReadonlyMap<Value, Packable>): Stored;
  /**
   * Gives the return of a `salt-call` (jid `req`) its own jid, and stores it as a job.
   * @returns The return with `jid`, `arg`, `tgt` and `tgt_type`; the argument for {@linkcode saveReturn}.
   * @throws {StoreError} If it cannot be stored.
   */
  adopt(load: ValueMap): ValueMap;
  /**
   * Notes when the last return of a job came.
   * @throws {StoreError} If that cannot be stored.
   */
  saveEndTime(jid: string, text: string): void;
  /**
   * Stores the contents of a journal's record (journal_record.ts), unless they are stored already.
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
  /**
   * Which minions of jobs have acknowledged them or returned; others than those asked for may be among them. Of a
   * database it is one question.
   */
  answered(jobs: readonly AskedJob[]): Map<string, Answered>;
  /** The time at which a minion's return was stored, in milliseconds since the epoch. */
  returnedMs(jid: string, id: string): number | undefined;
  /** The time of the last return of a job, if stored. */
  getEndTime(jid: string): string | undefined;
  /** Every job with a load, unordered; loads are read one at a time, without `Minions`. */
  walk(): Iterable<JobEntry>;

  /**
   * Removes old jobs, with all their data, job by job: the caller may pause after each.
   * @returns How many jobs were removed.
   */
  clean(limits: CleaningLimits): Generator<void, number>;
}
