/**
 * Rows of a database that may be away: jobs and returns then go into the outbox on this master's disk, and into the
 * database when it is back. What only watches a job (acknowledgements, live output) is not kept for that time.
 *
 * A return is new or not by what came since the database went away; one that the database has already is found when the
 * outbox is replayed, where the first stands. Whether a job is hidden is remembered of the last jobs; a return of one
 * that is not known is refused, so that its minion keeps it.
 * @module
 */

import { messageOf, StoreError } from "#lib/errors.ts";
import { masterRecord } from "#lib/jobs/journal_record.ts";
import type { Appended, CleaningLimits } from "#lib/jobs/store.ts";
import { sleep } from "#lib/os/sleep.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import { decode, type Packable } from "#lib/values/msgpack.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { DatabaseAwayError } from "./postgres_connection.ts";
import type { RecordOutbox } from "./record_outbox.ts";
import { rowJobStore } from "./row_store.ts";
import type {
  AckWrite,
  AnsweredRow,
  BatchWrite,
  JobReturnRow,
  JobRow,
  JobRows,
  JobWrite,
  OutputWrite,
  PageQuery,
  PageRow,
  ReturnsPart,
  ReturnWrite,
  RowsStatus,
} from "./rows.ts";

/** The parts of {@linkcode OutboxRows}. */
export interface OutboxRowsParts {
  readonly rows: JobRows;
  /** Whether the database can be used; throws why not. */
  readonly probe: () => Promise<void>;
  readonly outbox: RecordOutbox;
  readonly log: { error(text: string): void; warning(text: string): void };
  /** Tells that the database went away or is back, with the number of records in the outbox. */
  readonly onChange: (change: "away" | "back", outbox: number) => void;
}

/** Time between two looks for the database, in milliseconds. */
const LOOK_MS = 500;
/** Records that are stored at once. */
const AT_ONCE = 500;
/** How often the outbox is emptied while it is being filled; after that others wait. */
const MAX_TURNS = 5;
/** Jobs of which is remembered whether they are hidden. */
const MAX_MARKS = 20_000;
/** Bytes of returns that are remembered while the database is away. */
const MAX_BODY_BYTES = 64 << 20;

/** What is remembered of a job. */
type Mark = Pick<JobRow, "hidden" | "nocache">;

/** See {@linkcode JobRows} for its methods. */
export class OutboxRows implements JobRows {
  readonly #parts: OutboxRowsParts;
  readonly #marks = new BoundedMap<string, Mark>(MAX_MARKS);
  /** Jobs since the database went away. */
  readonly #jobs = new Map<string, JobRow>();
  /** Returns since then; without a body those beyond the bound. */
  readonly #returns = new Map<string, JobReturnRow | undefined>();
  #bodyBytes = 0;
  #away: string | undefined;
  #closing = false;
  #looking: Promise<void> | undefined;
  /** Until it is resolved, the last records of the outbox are being stored. */
  #held: Promise<void> | undefined;

  constructor(parts: OutboxRowsParts) {
    this.#parts = parts;
  }

  /** Begins with what a master before this one left in the outbox; the database need not be there. */
  start(away?: string): void {
    if (away !== undefined || this.#parts.outbox.count > 0) this.#goAway(away ?? "the outbox is not empty");
  }

  #goAway(reason: string): void {
    if (this.#away !== undefined || this.#closing) return;
    this.#away = reason;
    this.#parts.log.error(
      `The database of jobs is away; jobs and returns go to the outbox until it is back: ${reason}`,
    );
    this.#parts.onChange("away", this.#parts.outbox.count);
    this.#looking = this.#look();
  }

  /** Waits for the database, and brings it what the outbox has. Never rejects. */
  async #look(): Promise<void> {
    let said = "";
    while (!this.#closing && this.#away !== undefined) {
      try {
        await this.#parts.probe();
        const count = await this.#bringBack();
        this.#parts.log.warning(`The database of jobs is back; it got ${count} records of the outbox`);
        this.#parts.onChange("back", count);
        return;
      } catch (error) {
        const text = messageOf(error);
        if (!(error instanceof DatabaseAwayError) && text !== said) this.#parts.log.error(text);
        said = text;
      }
      await sleep(LOOK_MS);
    }
  }

  /**
   * Stores what the outbox has. For the last of it others wait: they could fill it as fast as it is emptied.
   * @returns The number of records.
   */
  async #bringBack(): Promise<number> {
    const { outbox } = this.#parts;
    let stored = 0;
    for (let turn = 0; turn < MAX_TURNS && outbox.count > AT_ONCE; turn++) stored += await this.#replay();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = promise;
    try {
      await outbox.idle();
      stored += await this.#replay();
      this.#away = undefined;
      this.#jobs.clear();
      this.#returns.clear();
      this.#bodyBytes = 0;
      return stored;
    } finally {
      this.#held = undefined;
      resolve();
    }
  }

  /** @returns The number of records that were stored. */
  async #replay(): Promise<number> {
    let count = 0;
    const store = rowJobStore(this.#parts.rows, {
      uniqueJid: false,
      maxOutputBytes: 0,
      log: (text) => this.#parts.log.error(text),
    });
    await this.#parts.outbox.empty(async (records) => {
      // Jobs before their returns: then each return finds the mark of its job.
      const [returns, others] = [true, false].map((wanted) => records.filter((record) => isReturn(record) === wanted));
      count += records.length;
      for (const record of others) await store.restore(record);
      for (let i = 0; i < returns.length; i += AT_ONCE) {
        await Promise.all(returns.slice(i, i + AT_ONCE).map((record) => store.restore(record)));
      }
    });
    return count;
  }

  /** With the database, or without it when it is away. */
  async #either<T>(withIt: () => Promise<T>, without: (reason: string) => Promise<T> | T): Promise<T> {
    while (this.#held !== undefined) await this.#held;
    if (this.#away === undefined) {
      try {
        return await withIt();
      } catch (error) {
        if (!(error instanceof DatabaseAwayError)) throw error;
        this.#goAway(error.message);
        return await without(error.message);
      }
    }
    return await without(this.#away);
  }

  /** As {@linkcode JobRows} says. */
  saveJob(write: JobWrite): Promise<boolean> {
    this.#mark(write);
    return this.#either(() => this.#parts.rows.saveJob(write), () => this.#keepJob(write));
  }

  #mark({ jid, hidden, nocache = false }: JobWrite): void {
    const known = this.#marks.get(jid);
    this.#marks.set(jid, { hidden: hidden ?? known?.hidden ?? null, nocache: nocache || (known?.nocache ?? false) });
  }

  async #keepJob(write: JobWrite): Promise<boolean> {
    const { jid, load, minions, hidden, keepsLoad } = write;
    const known = this.#jobs.get(jid);
    const records: Packable[] = [];
    if (load !== undefined && !(keepsLoad === true && known !== undefined && known.load.length > 0)) {
      const value = decode(load, "disk");
      if (isMap(value)) records.push(masterRecord("load", { jid, load: value }));
    }
    if (minions !== undefined) records.push(masterRecord("minions", { jid, minions: [...minions] }));
    if (hidden !== undefined) records.push(masterRecord("hidden", { jid, reader: hidden }));
    await this.#parts.outbox.append(records);
    const mark = this.#marks.get(jid);
    this.#jobs.set(jid, {
      load: (keepsLoad === true && known !== undefined && known.load.length > 0 ? undefined : load) ?? known?.load ??
        new Uint8Array(),
      minions: [...new Set([...known?.minions ?? [], ...minions ?? []])],
      hidden: mark?.hidden ?? null,
      nocache: mark?.nocache ?? false,
      ended: write.ended ?? known?.ended ?? null,
    });
    return known === undefined;
  }

  /** As {@linkcode JobRows} says. */
  saveReturn(write: ReturnWrite): Promise<"stored" | "duplicate"> {
    return this.#either(() => this.#parts.rows.saveReturn(write), () => this.#keepReturn(write));
  }

  async #keepReturn({ jid, id, body }: ReturnWrite): Promise<"stored" | "duplicate"> {
    const key = `${jid} ${id}`;
    if (this.#returns.has(key)) return "duplicate";
    const fields = decode(body, "disk");
    const load = new Map([...map({ jid, id }), ...isMap(fields) ? fields : []]);
    await this.#parts.outbox.append([masterRecord("return", { load })]);
    const isKept = this.#bodyBytes + body.length <= MAX_BODY_BYTES;
    if (isKept) this.#bodyBytes += body.length;
    this.#returns.set(key, isKept ? { id, body, storedMs: Date.now() } : undefined);
    return "stored";
  }

  /** As {@linkcode JobRows} says. */
  saveAck(write: AckWrite): Promise<void> {
    return this.#either(() => this.#parts.rows.saveAck(write), () => {});
  }

  /** As {@linkcode JobRows} says. */
  saveOutput(write: OutputWrite): Promise<Appended> {
    // It is shown to whoever watches.
    return this.#either(() => this.#parts.rows.saveOutput(write), () => "stored");
  }

  /** As {@linkcode JobRows} says. */
  saveBatch(write: BatchWrite): Promise<void> {
    return this.#either(() => this.#parts.rows.saveBatch(write), refuse);
  }

  /** As {@linkcode JobRows} says. */
  job(jid: string): Promise<JobRow | undefined> {
    return this.#either(async () => {
      const row = await this.#parts.rows.job(jid);
      if (row !== undefined) this.#marks.set(jid, { hidden: row.hidden, nocache: row.nocache });
      return row;
    }, (reason) => {
      const kept = this.#jobs.get(jid), mark = this.#marks.get(jid);
      if (kept !== undefined) return kept;
      return mark === undefined ? refuse(reason) : { ...mark, load: new Uint8Array(), minions: [], ended: null };
    });
  }

  /** As {@linkcode JobRows} says. */
  returns(jid: string, id: string | null, part?: ReturnsPart): Promise<JobReturnRow[]> {
    return this.#either(() => this.#parts.rows.returns(jid, id, part), (reason) => {
      const row = id === null ? undefined : this.#returns.get(`${jid} ${id}`);
      return row === undefined ? refuse(reason) : [row];
    });
  }

  /** As {@linkcode JobRows} says. */
  acks(jid: string): ReturnType<JobRows["acks"]> {
    return this.#either(() => this.#parts.rows.acks(jid), refuse);
  }

  /** As {@linkcode JobRows} says. */
  answered(jids: readonly string[]): Promise<AnsweredRow[]> {
    return this.#either(() => this.#parts.rows.answered(jids), refuse);
  }

  /** As {@linkcode JobRows} says. */
  outputs(jid: string, id: string): Promise<Uint8Array[]> {
    return this.#either(() => this.#parts.rows.outputs(jid, id), refuse);
  }

  /** As {@linkcode JobRows} says. */
  outputIds(jid: string): Promise<string[]> {
    return this.#either(() => this.#parts.rows.outputIds(jid), refuse);
  }

  /** As {@linkcode JobRows} says. */
  batch(jid: string): Promise<Uint8Array | undefined> {
    return this.#either(() => this.#parts.rows.batch(jid), refuse);
  }

  activeBatches(): ReturnType<JobRows["activeBatches"]> {
    return this.#either(() => this.#parts.rows.activeBatches(), refuse);
  }

  /** As {@linkcode JobRows} says. */
  page(query: PageQuery): Promise<PageRow[]> {
    return this.#either(() => this.#parts.rows.page(query), refuse);
  }

  /** As {@linkcode JobRows} says. */
  clean(limits: CleaningLimits): Promise<number> {
    return this.#either(() => this.#parts.rows.clean(limits), () => 0);
  }

  async status(): Promise<RowsStatus> {
    const status = await this.#either(() => this.#parts.rows.status(), refuse);
    return { ...status, outbox: this.#parts.outbox.count };
  }

  /** Ends it; the next master brings the database what is in the outbox. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#parts.rows.close();
    await this.#looking;
    await this.#parts.outbox.close();
  }
}

/** @throws {StoreError} What cannot be answered without the database. */
function refuse(reason: string): never {
  throw new StoreError(`The database of jobs is away: ${reason}`, "");
}

function isReturn(record: Value): boolean {
  return isMap(record) && record.get("kind") === "return";
}
