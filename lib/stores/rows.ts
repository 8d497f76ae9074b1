/**
 * Jobs as rows of a database: what is written and read, without values of Salt in it, so that messages between threads
 * and parameters of statements carry bytes alone. row_store.ts makes a job store of rows.
 * @module
 */

import type { AcknowledgedState } from "#lib/protocol/outcome.ts";
import type { Appended, CleaningLimits } from "#lib/jobs/store.ts";

/** Changes of a job's row, which is made if it is not there. Fields that are missing stay as they are. */
export interface JobWrite {
  readonly jid: string;
  /** The load in MessagePack, and what is searched of it. */
  readonly load?: Uint8Array;
  readonly fun?: readonly string[];
  /** The target; empty if it is no text. */
  readonly tgt?: string;
  readonly tgtType?: string;
  readonly user?: string;
  /** Whether a load that is there stays. */
  readonly keepsLoad?: boolean;
  /** Minions that are added. */
  readonly minions?: readonly string[];
  /** The mark of a hidden job: the key for its returns. */
  readonly hidden?: string;
  /** The time of the last return, as a jid. */
  readonly ended?: string;
  /** Its returns are not stored. */
  readonly nocache?: boolean;
  /** Its live output is kept. */
  readonly live?: boolean;
}

/** What one minion gave back. It is written once: the first stands. */
export interface ReturnWrite {
  readonly jid: string;
  readonly id: string;
  readonly retcode: number | null;
  readonly success: boolean | null;
  /** Its fields in MessagePack. */
  readonly body: Uint8Array;
}

/** An acknowledgement. */
export interface AckWrite {
  readonly jid: string;
  readonly id: string;
  readonly state: AcknowledgedState;
  readonly atMs: number;
}

/** A batch of live output. */
export interface OutputWrite {
  readonly jid: string;
  readonly id: string;
  readonly seq: number;
  readonly body: Uint8Array;
  /** Bytes that are kept of one minion. */
  readonly maxBytes: number;
}

/** The state of a batch job. */
export interface BatchWrite {
  readonly jid: string;
  readonly active: boolean;
  readonly state: Uint8Array;
}

/** What is stored of one job, without what came from its minions. */
export interface JobRow {
  /** Empty: the job has no load. */
  readonly load: Uint8Array;
  readonly minions: readonly string[];
  readonly hidden: string | null;
  /** The time of the last return, as a jid. */
  readonly ended: string | null;
  readonly nocache: boolean;
}

/** What one minion gave back, and when that was stored. */
export interface JobReturnRow {
  readonly id: string;
  readonly body: Uint8Array;
  readonly storedMs: number;
}

/** The minions of a job of which something has come. */
export interface AnsweredRow {
  readonly jid: string;
  readonly acknowledged: readonly string[];
  readonly returned: readonly string[];
}

/** A part of the returns of a job. */
export interface ReturnsPart {
  /** The id that they follow; empty for the first. */
  readonly after: string;
  readonly count: number;
}

/** Which loads {@linkcode JobRows.page} gives. */
export interface PageQuery {
  /** Only smaller jids. */
  readonly before: string | null;
  /** The smallest and the greatest jid. */
  readonly from: string | null;
  readonly to: string | null;
  /** Patterns of SQL's `like`; one of them matches a function, or the target. More jobs may be given than match. */
  readonly fun: readonly string[];
  readonly target: readonly string[];
  readonly count: number;
}

/** A job in a list. */
export interface PageRow {
  readonly jid: string;
  readonly load: Uint8Array;
}

/** What `database.status` shows. */
export interface RowsStatus {
  /** Where the rows are: a path, or host, port and database. */
  readonly server: string;
  readonly schema: number;
  readonly outbox: number;
  readonly waiting: number;
  readonly oldestPartition: string | null;
  /** Bytes. */
  readonly size: number;
}

/**
 * The rows of one master's jobs. A write that is resolved is as durable as the store promises. All may be repeated.
 * Errors are of the class `StoreError`.
 */
export interface JobRows {
  /** @returns Whether the row is new. */
  saveJob(write: JobWrite): Promise<boolean>;
  saveReturn(write: ReturnWrite): Promise<"stored" | "duplicate">;
  /** Does nothing for a job that is not there. */
  saveAck(write: AckWrite): Promise<void>;
  saveOutput(write: OutputWrite): Promise<Appended>;
  saveBatch(write: BatchWrite): Promise<void>;
  job(jid: string): Promise<JobRow | undefined>;
  /**
   * The returns of a job, or that of one minion.
   * @param part Those that follow an id, in their order.
   * @default all, in any order
   */
  returns(jid: string, id: string | null, part?: ReturnsPart): Promise<JobReturnRow[]>;
  acks(jid: string): Promise<Omit<AckWrite, "jid">[]>;
  /** The minions that have acknowledged jobs or returned, of those jobs of which there are any. */
  answered(jids: readonly string[]): Promise<AnsweredRow[]>;
  /** The batches of a minion's output, in order. */
  outputs(jid: string, id: string): Promise<Uint8Array[]>;
  /** The minions with output. */
  outputIds(jid: string): Promise<string[]>;
  batch(jid: string): Promise<Uint8Array | undefined>;
  activeBatches(): Promise<{ readonly jid: string; readonly state: Uint8Array }[]>;
  /** Jobs with a load, the newest first. */
  page(query: PageQuery): Promise<PageRow[]>;
  /** Removes old jobs. */
  clean(limits: CleaningLimits): Promise<number>;
  status(): Promise<RowsStatus>;
  close(): Promise<void>;
}

/** The number of the schema that this version makes. */
export const SCHEMA = 1;
