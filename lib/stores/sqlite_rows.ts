/**
 * Rows of jobs in a file of SQLite, which any number of processes may use. Writes that come in one turn of the event
 * loop are one transaction: a commit takes as long as a hundred writes. A master has one thread that writes
 * (store_thread.ts), since several would starve each other.
 * @module
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { messageOf, StoreError } from "#lib/errors.ts";
import { acknowledgedState } from "#lib/protocol/outcome.ts";
import type { Appended, CleaningLimits } from "#lib/jobs/store.ts";
import { dirName } from "#lib/os/paths.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";
import { sleep } from "#lib/os/sleep.ts";
import { setTimeout } from "#lib/os/timers.ts";
import { SEARCH_INDEXES, searchJobs } from "./sqlite_search.ts";
import {
  type AckWrite,
  type AnsweredRow,
  type BatchWrite,
  type JobReturnRow,
  type JobRow,
  type JobRows,
  type JobWrite,
  type OutputWrite,
  type PageQuery,
  type PageRow,
  type ReturnsPart,
  type ReturnWrite,
  type RowsStatus,
  SCHEMA,
} from "./rows.ts";

/** How {@linkcode SqliteRows} opens its file. */
export interface SqliteOptions {
  readonly path: string;
  /** Whether a commit is synced: `durability: machine`. */
  readonly synced: boolean;
  /** How long it waits for another process that writes, in milliseconds. */
  readonly waitMs: number;
}

/** Jobs that are removed in one transaction. */
const SLICE = 200;

const TABLES = `
create table if not exists meta (schema integer, oldest_reader integer, made text);
create table if not exists jobs (jid text primary key, fun text, tgt text, tgt_type text, usr text, minions text,
  load blob not null, hidden text, ended text, nocache integer not null default 0, live integer not null default 0,
  made integer not null) without rowid;
create table if not exists returns (jid text, minion text, retcode integer, success integer, stored integer not null,
  body blob not null, primary key (jid, minion)) without rowid;
create table if not exists acks (jid text, minion text, state text, at integer, primary key (jid, minion)) without rowid;
create table if not exists outputs (jid text, minion text, n integer, body blob, primary key (jid, minion, n)) without rowid;
create table if not exists batches (jid text primary key, active integer, state blob) without rowid;
create index if not exists jobs_made on jobs (made);
${SEARCH_INDEXES}`;

const SAVE_JOB = `
insert into jobs (jid, fun, tgt, tgt_type, usr, minions, load, hidden, ended, nocache, live, made)
values (:jid, :fun, :tgt, :tgt_type, :usr, :minions, coalesce(:load, x''), :hidden, :ended, :nocache, :live, :made)
on conflict (jid) do update set
  fun = case when :takes and :load is not null then :fun when length(jobs.load) = 0 then coalesce(:fun, fun) else fun end,
  tgt = case when :takes and :load is not null then :tgt when length(jobs.load) = 0 then coalesce(:tgt, tgt) else tgt end,
  tgt_type = case when :takes and :load is not null then :tgt_type when length(jobs.load) = 0 then coalesce(:tgt_type, tgt_type) else tgt_type end,
  usr = case when :takes and :load is not null then :usr when length(jobs.load) = 0 then coalesce(:usr, usr) else usr end,
  load = case when :load is null then load when :takes or length(jobs.load) = 0 then :load else load end,
  minions = case when :minions is null then minions when minions is null then :minions else
    (select json_group_array(value) from (select value from json_each(minions) union select value from json_each(:minions))) end,
  hidden = coalesce(:hidden, hidden), ended = coalesce(:ended, ended),
  nocache = max(nocache, :nocache), live = max(live, :live)`;

/** A write that waits for its transaction. */
interface Waiting {
  run(): unknown;
  resolve(result: unknown): void;
  reject(error: StoreError): void;
}

/** The rows in one file; it is made when it is first used. */
export class SqliteRows implements JobRows {
  readonly #options: SqliteOptions;
  #database: DatabaseSync | undefined;
  readonly #statements = new Map<string, StatementSync>();
  #waiting: Waiting[] = [];

  constructor(options: SqliteOptions) {
    this.#options = options;
  }

  /**
   * Opens the file, and makes its tables. Without this call that is done at the first use.
   * @throws {StoreError} If it cannot be used: its schema is newer than this version.
   */
  open(): void {
    this.#reading(() => this.#opened());
  }

  #opened(): DatabaseSync {
    if (this.#database !== undefined) return this.#database;
    const { path, synced, waitMs } = this.#options;
    const { DatabaseSync } = nodeBuiltin("node:sqlite");
    Deno.mkdirSync(dirName(path), { recursive: true, mode: 0o700 });
    makePrivate(path);
    const database = new DatabaseSync(path, { timeout: Math.max(1, waitMs) });
    try {
      database.exec(`pragma journal_mode = wal; pragma synchronous = ${synced ? "full" : "normal"}`);
      this.#prepareSchema(database);
    } catch (error) {
      database.close();
      throw error;
    }
    return this.#database = database;
  }

  #prepareSchema(database: DatabaseSync): void {
    database.exec("begin immediate");
    try {
      database.exec(TABLES);
      const [row] = database.prepare("select schema, oldest_reader from meta").all();
      if (row === undefined) {
        database.prepare("insert into meta values (?, ?, datetime())").run(SCHEMA, SCHEMA);
      } else if (Number(row.oldest_reader) > SCHEMA) {
        throw new StoreError(
          `${this.#options.path} has the schema ${row.schema} of a newer version; this version knows ${SCHEMA}: install the newer version, or set sqlite.path to another file`,
          this.#options.path,
        );
      }
      database.exec("commit");
    } catch (error) {
      if (database.isTransaction) database.exec("rollback");
      throw error;
    }
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#opened().prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #reading<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** `read`, as a promise. */
  #read<T>(read: () => T): Promise<T> {
    return Promise.try(() => this.#reading(read));
  }

  #failure(error: unknown): StoreError {
    if (error instanceof StoreError) return error;
    const { path } = this.#options;
    return new StoreError(`The job store ${path} cannot be used: ${messageOf(error)}`, path, { cause: error });
  }

  /** Runs `run` in the transaction of this turn. */
  #write<T>(run: () => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (this.#waiting.length === 0) setTimeout(() => this.#commit(), 0);
    this.#waiting.push({ run, resolve: (result) => resolve(result as T), reject });
    return promise;
  }

  #commit(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0) return;
    const results: { readonly value?: unknown; readonly error?: StoreError }[] = [];
    try {
      const database = this.#opened();
      database.exec("begin immediate");
      try {
        for (const { run } of waiting) results.push(this.#attempt(run));
        database.exec("commit");
      } catch (error) {
        if (database.isTransaction) database.exec("rollback");
        throw error;
      }
    } catch (error) {
      const failure = this.#failure(error);
      for (const { reject } of waiting) reject(failure);
      return;
    }
    for (const [i, { resolve, reject }] of waiting.entries()) {
      const { value, error } = results[i];
      if (error === undefined) resolve(value);
      else reject(error);
    }
  }

  /**
   * One write: a value that SQLite refuses is refused alone.
   * @throws If the transaction is over: the disk is full.
   */
  #attempt(run: () => unknown): { readonly value?: unknown; readonly error?: StoreError } {
    try {
      return { value: run() };
    } catch (error) {
      if (this.#database?.isTransaction !== true) throw error;
      return { error: this.#failure(error) };
    }
  }

  /** As {@linkcode JobRows} says. */
  saveJob(write: JobWrite): Promise<boolean> {
    const { jid, load, fun, tgt, tgtType, user, keepsLoad, minions, hidden, ended, nocache, live } = write;
    return this.#write(() => {
      const isNew = this.#statement("select 1 from jobs where jid = ?").get(jid) === undefined;
      this.#statement(SAVE_JOB).run({
        jid,
        fun: fun?.join("\n") ?? null,
        tgt: tgt ?? null,
        tgt_type: tgtType ?? null,
        usr: user ?? null,
        minions: minions === undefined ? null : JSON.stringify([...new Set(minions)]),
        load: load ?? null,
        hidden: hidden ?? null,
        ended: ended ?? null,
        nocache: nocache === true ? 1 : 0,
        live: live === true ? 1 : 0,
        takes: keepsLoad === true ? 0 : 1,
        made: Date.now(),
      });
      return isNew;
    });
  }

  /** As {@linkcode JobRows} says. */
  saveReturn({ jid, id, retcode, success, body }: ReturnWrite): Promise<"stored" | "duplicate"> {
    return this.#write(() => {
      // Cleaning may have removed it.
      this.#statement("insert into jobs (jid, load, made) values (?, x'', ?) on conflict do nothing").run(
        jid,
        Date.now(),
      );
      const { changes } = this.#statement(
        "insert into returns (jid, minion, retcode, success, stored, body) values (?, ?, ?, ?, ?, ?) on conflict do nothing",
      ).run(jid, id, retcode, success === null ? null : Number(success), Date.now(), body);
      return Number(changes) === 1 ? "stored" : "duplicate";
    });
  }

  /** As {@linkcode JobRows} says. */
  saveAck({ jid, id, state, atMs }: AckWrite): Promise<void> {
    return this.#write(() => {
      this.#statement(
        "insert into acks (jid, minion, state, at) select ?1, ?2, ?3, ?4 where exists (select 1 from jobs where jid = ?1) " +
          "on conflict (jid, minion) do update set state = excluded.state, at = excluded.at",
      ).run(jid, id, state, atMs);
    });
  }

  /** As {@linkcode JobRows} says. */
  saveOutput({ jid, id, seq, body, maxBytes }: OutputWrite): Promise<Appended> {
    return this.#write(() => {
      if (this.#statement("select 1 from jobs where jid = ? and live = 1").get(jid) === undefined) return "refused";
      const row = this.#statement(
        "select coalesce(max(n), 0) as last, coalesce(sum(length(body)), 0) as bytes from outputs where jid = ? and minion = ?",
      ).get(jid, id);
      if (seq <= Number(row?.last)) return "duplicate";
      if (Number(row?.bytes) >= maxBytes) return "refused";
      this.#statement("insert into outputs (jid, minion, n, body) values (?, ?, ?, ?)").run(jid, id, seq, body);
      return "stored";
    });
  }

  /** As {@linkcode JobRows} says. */
  saveBatch({ jid, active, state }: BatchWrite): Promise<void> {
    return this.#write(() => {
      this.#statement("insert or replace into batches (jid, active, state) values (?, ?, ?)")
        .run(jid, Number(active), state);
    });
  }

  /** As {@linkcode JobRows} says. */
  job(jid: string): Promise<JobRow | undefined> {
    return this.#read(() => {
      const row = this.#statement("select load, minions, hidden, ended, nocache from jobs where jid = ?").get(jid);
      if (row === undefined) return undefined;
      return {
        load: bytesOf(row.load),
        minions: typeof row.minions === "string" ? JSON.parse(row.minions) : [],
        hidden: textOf(row.hidden),
        ended: textOf(row.ended),
        nocache: row.nocache === 1,
      };
    });
  }

  /** As {@linkcode JobRows} says. */
  returns(jid: string, id: string | null, part?: ReturnsPart): Promise<JobReturnRow[]> {
    return this.#read(() =>
      this.#statement(
        "select minion, body, stored from returns where jid = ?1 and (?2 is null or minion = ?2) and minion > ?3 order by minion limit ?4",
      ).all(jid, id, part?.after ?? "", part?.count ?? -1).map((row) => ({
        id: String(row.minion),
        body: bytesOf(row.body),
        storedMs: Number(row.stored),
      }))
    );
  }

  /** As {@linkcode JobRows} says. */
  acks(jid: string): Promise<Omit<AckWrite, "jid">[]> {
    return this.#read(() =>
      this.#statement("select minion, state, at from acks where jid = ?").all(jid).flatMap((row) => {
        const state = acknowledgedState(row.state);
        return state === undefined ? [] : [{ id: String(row.minion), state, atMs: Number(row.at) }];
      })
    );
  }

  /** As {@linkcode JobRows} says. */
  answered(jids: readonly string[]): Promise<AnsweredRow[]> {
    return this.#read(() => {
      const ids = (table: string, jid: string) =>
        this.#statement(`select minion from ${table} where jid = ?`).all(jid).map(({ minion }) => String(minion));
      return jids.map((jid) => ({ jid, acknowledged: ids("acks", jid), returned: ids("returns", jid) }));
    });
  }

  /** As {@linkcode JobRows} says. */
  outputs(jid: string, id: string): Promise<Uint8Array[]> {
    return this.#read(() =>
      this.#statement("select body from outputs where jid = ? and minion = ? order by n").all(jid, id)
        .map((row) => bytesOf(row.body))
    );
  }

  /** As {@linkcode JobRows} says. */
  outputIds(jid: string): Promise<string[]> {
    return this.#read(() =>
      this.#statement("select distinct minion from outputs where jid = ? order by minion").all(jid)
        .map((row) => String(row.minion))
    );
  }

  /** As {@linkcode JobRows} says. */
  batch(jid: string): Promise<Uint8Array | undefined> {
    return this.#read(() => {
      const row = this.#statement("select state from batches where jid = ?").get(jid);
      return row === undefined ? undefined : bytesOf(row.state);
    });
  }

  activeBatches(): Promise<{ readonly jid: string; readonly state: Uint8Array }[]> {
    return this.#read(() =>
      this.#statement("select jid, state from batches where active = 1 order by jid").all()
        .map((row) => ({ jid: String(row.jid), state: bytesOf(row.state) }))
    );
  }

  /** As {@linkcode JobRows} says. */
  page(query: PageQuery): Promise<PageRow[]> {
    return this.#read(() => searchJobs((sql) => this.#opened().prepare(sql), query));
  }

  /** As {@linkcode JobRows} says; so many in a transaction that others get their turn. */
  async clean({ nowMs, keepSeconds }: CleaningLimits): Promise<number> {
    const oldestMs = nowMs - keepSeconds * 1000;
    let removed = 0;
    for (let found = SLICE; found === SLICE;) {
      found = await this.#write(() => {
        const jids = this.#statement("select jid from jobs where made < ? order by made limit ?").all(oldestMs, SLICE)
          .map(({ jid }) => String(jid));
        for (const jid of jids) {
          for (const table of ["returns", "acks", "outputs", "batches", "jobs"]) {
            this.#statement(`delete from ${table} where jid = ?`).run(jid);
          }
        }
        return jids.length;
      });
      removed += found;
      await sleep(0);
    }
    return removed;
  }

  status(): Promise<RowsStatus> {
    return this.#read(() => {
      const [row] = this.#opened().prepare("select schema from meta").all();
      const bytes = this.#statement(
        "select page_count * page_size as size from pragma_page_count(), pragma_page_size()",
      )
        .get()?.size;
      const waiting = this.#waiting.length;
      const { path: server } = this.#options;
      return { server, schema: Number(row?.schema), outbox: 0, waiting, oldestPartition: null, size: Number(bytes) };
    });
  }

  close(): Promise<void> {
    return Promise.try(() => {
      this.#commit();
      this.#statements.clear();
      this.#database?.close();
      this.#database = undefined;
    });
  }
}

/** Makes the file so that only its owner can read it. */
function makePrivate(path: string): void {
  try {
    Deno.openSync(path, { write: true, createNew: true, mode: 0o600 }).close();
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
}

function bytesOf(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : new Uint8Array();
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
