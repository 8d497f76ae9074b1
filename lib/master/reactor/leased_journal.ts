/**
 * Where the reactor of a cluster is: in the row of its lease, so that the next holder goes on there. The events of all
 * masters are in the log of each, those of others with their mark; so the place is a number for each master.
 *
 * The row is written in the transaction that checks the lease: a reaction is started by the holder that has recorded
 * it, or by the next one if it finds no trace of it.
 * @module
 */

import { peerMark } from "#lib/bus/peer_mark.ts";
import { LeaseLostError, StoreError } from "#lib/errors.ts";
import type { EventLogReader, LoggedEvent } from "#lib/event_log/reader.ts";
import { sleep } from "#lib/os/sleep.ts";
import {
  parseTaken,
  type ReactionJournal,
  type ReactorPosition,
  type Taken,
  takenValue,
} from "#lib/reactor/journal.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { isMap, map, toNumber, type Value } from "#lib/values/value.ts";

/** Pause before a record is tried again, in milliseconds. */
const RETRY_MS = 200;
/**
 * How far before the last record a new holder looks for events that came to it earlier than to its predecessor, in
 * milliseconds: longer than masters are cut off from the database while others are not.
 */
const LOOK_BACK_MS = 3_600_000;

/** The row of the lease. */
export interface ReactorLease {
  /** Whether this master holds it now. */
  holds(): boolean;
  /** What the last holder wrote; `null`: nothing. */
  read(): Promise<Uint8Array | null>;
  /**
   * Writes the row.
   * @returns Whether this master holds the lease; if not, nothing is written.
   * @throws {StoreError} If the database does not answer.
   */
  write(position: Uint8Array): Promise<boolean>;
}

/** The journal of a reactor that runs while its master holds the lease. */
export class LeasedJournal implements ReactionJournal {
  readonly #name: string;
  readonly #lease: ReactorLease;
  /** The last event of each master that was read. */
  readonly #read: Map<string, number>;
  readonly #open: Map<string, Taken>;
  /** The last event of each master whose reactions are recorded. */
  #recorded: ReadonlyMap<string, number>;
  /** When the row was written; `undefined`: never. */
  readonly #atMs: number | undefined;
  #changed = false;
  #writing: Promise<void> = Promise.resolve();

  private constructor(name: string, lease: ReactorLease, row: Row | undefined) {
    this.#name = name;
    this.#lease = lease;
    this.#recorded = row?.masters ?? new Map();
    this.#read = new Map(this.#recorded);
    this.#open = new Map(row?.taken.map((taken) => [taken.jid, taken]));
    this.#atMs = row?.atMs;
  }

  /**
   * Goes on where the last holder was.
   * @param name The name of this master.
   * @throws {StoreError} If the database does not answer.
   */
  static async open(name: string, lease: ReactorLease): Promise<LeasedJournal> {
    const bytes = await lease.read();
    return new LeasedJournal(name, lease, bytes === null ? undefined : parseRow(bytes));
  }

  /** As {@linkcode ReactionJournal} says. */
  get open(): readonly Taken[] {
    return [...this.#open.values()];
  }

  /** As {@linkcode ReactionJournal} says. */
  seek(reader: EventLogReader, startedMs: number): void {
    reader.seekTime(this.#atMs === undefined ? startedMs : this.#atMs - LOOK_BACK_MS);
  }

  /** As {@linkcode ReactionJournal} says. */
  after({ number, frame }: LoggedEvent, log: string): ReactorPosition | undefined {
    const { id, seq } = peerMark(frame) ?? { id: this.#name, seq: number };
    if (seq <= (this.#read.get(id) ?? -1)) return undefined;
    this.#read.set(id, seq);
    return { log, number, masters: new Map(this.#read) };
  }

  /** As {@linkcode ReactionJournal} says. */
  async take({ masters }: ReactorPosition, taken: readonly Taken[]): Promise<void> {
    if (masters !== undefined) this.#recorded = masters;
    this.#changed = true;
    if (taken.length === 0) return;
    for (const each of taken) this.#open.set(each.jid, each);
    await (this.#writing = this.#writing.then(() => this.#write()));
  }

  async #write(): Promise<void> {
    while (this.#lease.holds()) {
      try {
        this.#changed = false;
        if (await this.#lease.write(this.#row())) return;
        break;
      } catch (error) {
        this.#changed = true;
        if (!(error instanceof StoreError)) throw error;
        await sleep(RETRY_MS);
      }
    }
    throw new LeaseLostError("the lease of the reactor is lost");
  }

  #row(): Uint8Array {
    const taken = this.open.map((each): Value => takenValue(each));
    return encode(map({ at_ms: Date.now(), masters: new Map(this.#recorded), taken }), "disk");
  }

  /** As {@linkcode ReactionJournal} says. */
  started(jid: string): void {
    this.#changed = this.#open.delete(jid) || this.#changed;
  }

  /** As {@linkcode ReactionJournal} says: begins to. */
  flush(): void {
    if (!this.#changed || !this.#lease.holds()) return;
    this.#changed = false;
    // What is not written is found again by the next holder, who looks whether it was started.
    this.#writing = this.#writing.then(() => this.#lease.write(this.#row())).then(() => {}, () => {
      this.#changed = true;
    });
  }

  /** As {@linkcode ReactionJournal} says. */
  close(): void {
    this.flush();
  }
}

/** What is in the row. */
interface Row {
  readonly atMs: number;
  readonly masters: ReadonlyMap<string, number>;
  readonly taken: readonly Taken[];
}

/**
 * @throws {MsgpackError} If it is cut off.
 * @throws {WireError} If a reaction is none.
 */
function parseRow(bytes: Uint8Array): Row {
  const value = decode(bytes, "disk");
  const [masters, taken] = isMap(value) ? [value.get("masters"), value.get("taken")] : [];
  const known = new Map<string, number>();
  if (isMap(masters)) {
    for (const [name, seq] of masters) if (typeof name === "string") known.set(name, toNumber(seq) ?? -1);
  }
  return {
    atMs: (isMap(value) ? toNumber(value.get("at_ms")) : undefined) ?? 0,
    masters: known,
    taken: Array.isArray(taken) ? taken.map(parseTaken) : [],
  };
}
