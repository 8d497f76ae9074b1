/**
 * Rows of jobs in PostgreSQL. One connection writes: what comes while a statement runs is the next statement, so that
 * one commit serves all; another reads, and writes what may be lost in a crash of the server. A statement that was cut
 * off is repeated until `waitMs` are over: all of them may be repeated.
 * @module
 */

import type { Client } from "pg";
import { StoreError } from "#lib/errors.ts";
import { acknowledgedState } from "#lib/protocol/outcome.ts";
import type { Appended, CleaningLimits } from "#lib/jobs/store.ts";
import { PostgresAttempts } from "./postgres_attempts.ts";
import { DatabaseAwayError, databasePlace } from "./postgres_connection.ts";
import type { PostgresPlace } from "./postgres_options.ts";
import { makePartitions, makeSchema, partitionsOf, removeOld, schemaNumber } from "./postgres_schema.ts";
import { type JobSearchStatement, newestJobs, rareJobs } from "./postgres_search.ts";
import { ackParameters, ACKS_SQL, jobParameters, JOBS_SQL, returnParameters, RETURNS_SQL } from "./postgres_writes.ts";
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

/** How {@linkcode PostgresRows} works. */
export interface PostgresRowsOptions {
  readonly connection: PostgresPlace;
  /** How long a write or a read waits for the database, in milliseconds. */
  readonly waitMs: number;
  /** The option `keep_jobs_seconds`: the length of partitions. */
  readonly keepSeconds: number;
}

/** Rows of one statement. */
const MAX_ROWS = 500;
/** How long a read may take, in milliseconds. */
const READ_MS = 60_000;

/** A write that waits. */
interface Waiting<Write> {
  readonly write: Write;
  readonly untilMs: number;
  resolve(result: unknown): void;
  reject(error: StoreError): void;
}

/** Stores rows with one statement, and gives the result of each. */
type Statement<Write> = (client: Client, writes: readonly Write[]) => Promise<readonly unknown[]>;

/** Writes of one kind, each statement with all that have come. */
class Collector<Write> {
  readonly #rows: PostgresAttempts;
  readonly #key: (write: Write) => string;
  readonly #store: Statement<Write>;
  readonly #waitMs: number;
  #waiting: Waiting<Write>[] = [];
  #running = false;

  constructor(
    rows: PostgresAttempts,
    { key, store, waitMs }: { key: (write: Write) => string; store: Statement<Write>; waitMs: number },
  ) {
    this.#rows = rows;
    this.#key = key;
    this.#store = store;
    this.#waitMs = waitMs;
  }

  get size(): number {
    return this.#waiting.length;
  }

  add(write: Write): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.push({ write, untilMs: performance.now() + this.#waitMs, resolve, reject });
    if (!this.#running) {
      this.#running = true;
      void this.#run();
    }
    return promise;
  }

  /** Never rejects: each write gets its result or its error. */
  async #run(): Promise<void> {
    await Promise.resolve(); // what comes in this turn is one statement
    while (this.#waiting.length > 0) await this.#storeSome(this.#take());
    this.#running = false;
  }

  /** The first writes, of each row one: a statement cannot change a row twice. */
  #take(): Waiting<Write>[] {
    const taken = new Map<string, Waiting<Write>>(), rest: Waiting<Write>[] = [];
    for (const one of this.#waiting) {
      const key = this.#key(one.write);
      if (taken.has(key) || taken.size >= MAX_ROWS) rest.push(one);
      else taken.set(key, one);
    }
    this.#waiting = rest;
    return [...taken.values()];
  }

  async #storeSome(some: readonly Waiting<Write>[]): Promise<void> {
    try {
      const untilMs = Math.min(...some.map((one) => one.untilMs));
      const results = await this.#rows.attempt(
        untilMs,
        (client) => this.#store(client, some.map(({ write }) => write)),
      );
      for (const [i, { resolve }] of some.entries()) resolve(results[i]);
    } catch (error) {
      const failure = error instanceof StoreError ? error : new StoreError(String(error), "");
      if (some.length === 1 || failure instanceof DatabaseAwayError) {
        for (const { reject } of some) reject(failure);
        return;
      }
      // One of them is refused: it is found by halves.
      const half = Math.ceil(some.length / 2);
      await this.#storeSome(some.slice(0, half));
      await this.#storeSome(some.slice(half));
    }
  }
}

/** The rows in one database. */
export class PostgresRows implements JobRows {
  readonly #options: PostgresRowsOptions;
  readonly #schema: string;
  readonly #writer: PostgresAttempts;
  readonly #reader: PostgresAttempts;
  readonly #jobs: Collector<JobWrite>;
  readonly #returns: Collector<ReturnWrite>;
  readonly #acks: Collector<AckWrite>;

  constructor(options: PostgresRowsOptions) {
    this.#options = options;
    const { connection, waitMs, keepSeconds } = options;
    const schema = this.#schema = connection.schema;
    const writer = this.#writer = new PostgresAttempts(connection, {
      statementMs: Math.max(1_000, waitMs),
      prepare: (client) => makeSchema(client, schema, { keepSeconds, nowMs: Date.now() }),
    });
    const reader = this.#reader = new PostgresAttempts(connection, {
      statementMs: READ_MS,
      async prepare(client) {
        await client.query("set synchronous_commit = off");
        // Whoever reads first makes the tables, so that there is something to read.
        await makeSchema(client, schema, { keepSeconds, nowMs: Date.now() });
      },
    });
    this.#jobs = new Collector<JobWrite>(writer, {
      waitMs,
      key: ({ jid }) => jid,
      store: (client, writes) => saveJobs(client, schema, writes),
    });
    this.#returns = new Collector<ReturnWrite>(writer, {
      waitMs,
      key: pairOf,
      store: (client, writes) => saveReturns(client, schema, writes),
    });
    this.#acks = new Collector<AckWrite>(reader, {
      waitMs,
      key: pairOf,
      async store(client, writes) {
        await client.query(ACKS_SQL(schema), ackParameters(writes));
        return writes.map(() => undefined);
      },
    });
  }

  /**
   * Connects, and makes the tables.
   * @throws {StoreError} If that is not possible.
   */
  async open(): Promise<void> {
    await this.#writer.attempt(0, () => Promise.resolve());
  }

  // The results are those that the statements of each kind give.
  /** As {@linkcode JobRows} says. */
  async saveJob(write: JobWrite): Promise<boolean> {
    return await this.#jobs.add(write) === true;
  }

  /** As {@linkcode JobRows} says. */
  async saveReturn(write: ReturnWrite): Promise<"stored" | "duplicate"> {
    return await this.#returns.add(write) === "stored" ? "stored" : "duplicate";
  }

  /** As {@linkcode JobRows} says. */
  async saveAck(write: AckWrite): Promise<void> {
    await this.#acks.add(write);
  }

  /** As {@linkcode JobRows} says. */
  saveOutput({ jid, id, seq, body, maxBytes }: OutputWrite): Promise<Appended> {
    const s = this.#schema;
    return this.#attempt(this.#reader, async (client) => {
      const { rows: [state] } = await client.query<
        { readonly live: boolean; readonly last: number; readonly bytes: string }
      >(
        `select exists (select 1 from ${s}.jobs where jid = $1 and live) as live, coalesce(max(n), 0) as last,
           coalesce(sum(length(body)), 0) as bytes from ${s}.outputs where jid = $1 and minion = $2`,
        [jid, id],
      );
      if (state === undefined || !state.live) return "refused";
      if (seq <= state.last) return "duplicate";
      if (Number(state.bytes) >= maxBytes) return "refused";
      const { rowCount } = await client.query(
        `insert into ${s}.outputs (jid, minion, n, body) values ($1, $2, $3, $4) on conflict do nothing`,
        [jid, id, seq, body],
      );
      return rowCount === 1 ? "stored" : "duplicate";
    });
  }

  /** As {@linkcode JobRows} says. */
  saveBatch({ jid, active, state }: BatchWrite): Promise<void> {
    return this.#attempt(this.#writer, async (client) => {
      await client.query(
        `insert into ${this.#schema}.batches (jid, active, state) values ($1, $2, $3)
         on conflict (jid) do update set active = excluded.active, state = excluded.state`,
        [jid, active, state],
      );
    });
  }

  /** As {@linkcode JobRows} says. */
  async job(jid: string): Promise<JobRow | undefined> {
    interface Found {
      readonly load: Uint8Array;
      readonly minions: readonly string[] | null;
      readonly hidden: string | null;
      readonly ended: string | null;
      readonly nocache: boolean;
    }
    const [row] = await this.#rows<Found>(
      `select load, minions, hidden, to_char(ended at time zone 'UTC', 'YYYYMMDDHH24MISSUS') as ended, nocache
       from ${this.#schema}.jobs where jid = $1`,
      [jid],
    );
    return row && { ...row, load: plain(row.load), minions: row.minions ?? [] };
  }

  /** As {@linkcode JobRows} says. */
  async returns(jid: string, id: string | null, part?: ReturnsPart): Promise<JobReturnRow[]> {
    const parts = part === undefined ? [] : [part.after, part.count];
    const rows = await this.#rows<{ readonly minion: string; readonly body: Uint8Array; readonly stored: string }>(
      `select minion, body, extract(epoch from stored) * 1000 as stored from ${this.#schema}.returns
       where jid = $1 and ($2::text is null or minion = $2) ${
        part === undefined ? "" : "and minion > $3 order by minion limit $4"
      }`,
      [jid, id, ...parts],
    );
    return rows.map(({ minion, body, stored }) => ({
      id: minion,
      body: plain(body),
      storedMs: Math.floor(Number(stored)),
    }));
  }

  /** As {@linkcode JobRows} says. */
  async acks(jid: string): Promise<Omit<AckWrite, "jid">[]> {
    const rows = await this.#rows<{ readonly minion: string; readonly state: string; readonly at: string }>(
      `select minion, state, round(extract(epoch from at) * 1000) as at from ${this.#schema}.acks where jid = $1`,
      [jid],
    );
    return rows.flatMap(({ minion, state, at }) => {
      const known = acknowledgedState(state);
      return known === undefined ? [] : [{ id: minion, state: known, atMs: Number(at) }];
    });
  }

  /** As {@linkcode JobRows} says. */
  async answered(jids: readonly string[]): Promise<AnsweredRow[]> {
    const s = this.#schema;
    const rows = await this.#rows<{ readonly jid: string; readonly returned: boolean; readonly ids: string[] }>(
      `select jid, true as returned, array_agg(minion::text) as ids from ${s}.returns where jid = any($1) group by jid
       union all
       select jid, false, array_agg(minion::text) from ${s}.acks where jid = any($1) group by jid`,
      [[...jids]],
    );
    const jobs = new Map<string, { acknowledged: string[]; returned: string[] }>();
    for (const { jid, returned, ids } of rows) {
      const job = jobs.get(jid) ?? { acknowledged: [], returned: [] };
      jobs.set(jid, { ...job, [returned ? "returned" : "acknowledged"]: ids });
    }
    return [...jobs].map(([jid, job]) => ({ jid, ...job }));
  }

  /** As {@linkcode JobRows} says. */
  async outputs(jid: string, id: string): Promise<Uint8Array[]> {
    const rows = await this.#rows<{ readonly body: Uint8Array }>(
      `select body from ${this.#schema}.outputs where jid = $1 and minion = $2 order by n`,
      [jid, id],
    );
    return rows.map(({ body }) => plain(body));
  }

  /** As {@linkcode JobRows} says. */
  async outputIds(jid: string): Promise<string[]> {
    const rows = await this.#rows<{ readonly minion: string }>(
      `select distinct minion from ${this.#schema}.outputs where jid = $1 order by minion`,
      [jid],
    );
    return rows.map(({ minion }) => minion);
  }

  /** As {@linkcode JobRows} says. */
  async batch(jid: string): Promise<Uint8Array | undefined> {
    const [row] = await this.#rows<{ readonly state: Uint8Array }>(
      `select state from ${this.#schema}.batches where jid = $1`,
      [jid],
    );
    return row && plain(row.state);
  }

  async activeBatches(): Promise<{ readonly jid: string; readonly state: Uint8Array }[]> {
    const rows = await this.#rows<{ readonly jid: string; readonly state: Uint8Array }>(
      `select jid, state from ${this.#schema}.batches where active order by jid`,
      [],
    );
    return rows.map(({ jid, state }) => ({ jid, state: plain(state) }));
  }

  /** As {@linkcode JobRows} says. */
  async page(query: PageQuery): Promise<PageRow[]> {
    const newest = await this.#found(newestJobs(this.#schema, query));
    const rare = newest.length < query.count ? rareJobs(this.#schema, query) : undefined;
    return rare === undefined ? newest : await this.#found(rare);
  }

  async #found({ sql, parameters }: JobSearchStatement): Promise<PageRow[]> {
    const rows = await this.#rows<{ readonly jid: string; readonly load: Uint8Array }>(sql, parameters);
    return rows.map(({ jid, load }) => ({ jid, load: plain(load) }));
  }

  /** As {@linkcode JobRows} says. */
  clean({ nowMs, keepSeconds }: CleaningLimits): Promise<number> {
    return this.#attempt(this.#reader, async (client) => {
      const retention = { nowMs, keepSeconds };
      await makePartitions(client, this.#schema, { keepSeconds: this.#options.keepSeconds, nowMs: Date.now() });
      return await removeOld(client, this.#schema, retention);
    });
  }

  status(): Promise<RowsStatus> {
    const s = this.#schema, { connection } = this.#options;
    return this.#attempt(this.#reader, async (client) => {
      const number = await schemaNumber(client, s);
      const partitions = (await partitionsOf(client, s, "jobs")).filter(({ prefix }) => prefix !== "");
      const { rows: [size] } = await client.query<{ readonly bytes: string }>(
        `select coalesce(sum(pg_total_relation_size(c.oid)), 0) as bytes from pg_class c
         join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = 'r'`,
        [s],
      );
      return {
        server: databasePlace(connection),
        schema: number?.schema ?? 0,
        outbox: 0,
        waiting: this.#jobs.size + this.#returns.size + this.#acks.size,
        oldestPartition: partitions[0]?.name ?? null,
        size: Number(size?.bytes ?? 0),
      };
    });
  }

  #attempt<T>(connection: PostgresAttempts, run: (client: Client) => Promise<T>): Promise<T> {
    return connection.attempt(performance.now() + this.#options.waitMs, run);
  }

  #rows<Row extends object>(statement: string, parameters: readonly unknown[]): Promise<readonly Row[]> {
    return this.#attempt(this.#reader, async (client) => (await client.query<Row>(statement, [...parameters])).rows);
  }

  async close(): Promise<void> {
    await Promise.all([this.#writer.close(), this.#reader.close()]);
  }
}

/** The identity of a row of a job and a minion. */
function pairOf({ jid, id }: { readonly jid: string; readonly id: string }): string {
  return `${jid} ${id}`;
}

async function saveJobs(client: Client, schema: string, writes: readonly JobWrite[]): Promise<readonly boolean[]> {
  const isNew = new Set<string>();
  for (const keeps of [true, false]) {
    const some = writes.filter(({ keepsLoad = false }) => keepsLoad === keeps);
    if (some.length === 0) continue;
    const { rows } = await client.query<{ readonly jid: string; readonly made: boolean }>(
      JOBS_SQL(schema, keeps),
      jobParameters(some),
    );
    for (const { jid, made } of rows) if (made) isNew.add(jid);
  }
  return writes.map(({ jid }) => isNew.has(jid));
}

async function saveReturns(client: Client, schema: string, writes: readonly ReturnWrite[]): Promise<readonly string[]> {
  const { rows } = await client.query<{ readonly jid: string; readonly minion: string }>(
    RETURNS_SQL(schema),
    returnParameters(writes),
  );
  const stored = new Set(rows.map(({ jid, minion }) => pairOf({ jid, id: minion })));
  return writes.map((write) => stored.has(pairOf(write)) ? "stored" : "duplicate");
}

/** The bytes alone, not the buffer of the client that they lie in. */
function plain(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}
