/**
 * The tables by which masters of a simulated cluster meet, in memory, and what a statement on them is.
 * @module
 */

/** The row of a key. */
export interface KeyTableRow {
  readonly minion: string;
  readonly state: string;
  readonly pem: string | null;
  readonly fingerprint: string | null;
  readonly generation: number;
  readonly at: number;
  readonly by: string;
  readonly mac: Uint8Array;
}

/** The row of a master. */
interface MemberRow {
  incarnation: number;
  name: string;
  untilMs: number;
  /** Since when it has been alive without a break. */
  sinceMs: number;
  /** The last change of keys that it has in its files. */
  keysSeen?: number;
}

/** The row of a lease. */
interface ModelLease {
  origin: number;
  incarnation: number;
  untilMs: number;
  /** Where the reactor is. */
  position?: Uint8Array;
}

/** The row of an event. */
export interface EventRow {
  readonly seq: number;
  readonly tag: string;
  readonly body: Uint8Array;
}

/** The row of a publish. */
export interface PublishRow {
  readonly origin: number;
  readonly seq: number;
  readonly jid: string;
  readonly untilMs: number;
  readonly sealed: Uint8Array;
}

/** What a statement is given. */
export type Parameters_ = readonly unknown[];

/** The tables of one world. */
export class ModelTables {
  readonly members = new Map<number, MemberRow>();
  readonly leases = new Map<string, ModelLease>();
  publishes: PublishRow[] = [];
  /** The events of each master, in the order of their numbers. */
  readonly events = new Map<number, EventRow[]>();
  /** How often a run of a master was given a row. */
  readonly given = new Map<string, number>();
  /** Keys by minion and state, and the number of their last change. */
  readonly keys = new Map<string, KeyTableRow>();
  keyGeneration = 0;
}

/** The rows that a statement gives, and how many it has changed. */
export interface Answer {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly rowCount: number;
}

/** An answer with some rows. */
export function given(...rows: Answer["rows"]): Answer {
  return { rows, rowCount: rows.length };
}

/** A statement, by what only it contains, and what it does. */
export type Statement = readonly [RegExp, (tables: ModelTables, parameters: Parameters_) => Answer];
