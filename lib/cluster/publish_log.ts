/**
 * Jobs that all masters of a cluster publish: rows of the table `publishes`, sealed. Each master numbers its own; the
 * others read on from the last number of each, so that none is skipped. After a start a master takes up all that are
 * not over, of all masters: its own minions may have missed them.
 *
 * With the database away a job reaches the minions of this master only; when it is back in time, the others get it,
 * also if this master was killed meanwhile.
 * @module
 */

import type { Client } from "pg";
import { AuthenticationError, messageOf, MsgpackError } from "#lib/errors.ts";
import type { Delivery } from "#lib/jobs/redelivery.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { DatabaseAwayError } from "#lib/stores/postgres_connection.ts";
import { slices } from "#lib/stores/postgres_writes.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, toNumber } from "#lib/values/value.ts";
import type { ClusterDatabase } from "./cluster_database.ts";
import type { ClusterKeys } from "./cluster_secrets.ts";
import { Gathered } from "./gathered.ts";

/** What the rows are sealed for. */
const PURPOSE = "publishes";
/** Rows of one statement. */
const MOST_ROWS = 200;
/** The least time for other masters to find a job, in ms: one that is not to be repeated is published once. */
const LEAST_MS = 5_000;
/**
 * How long after its end, by this master's clock, a row is still believed, in milliseconds. A row that somebody wrote
 * again with a later end is refused; clocks of masters may differ by this.
 */
const SKEW_MS = 60_000;
/** How long a row stays after its end, in seconds. */
const KEPT_S = 60;

/** The parts of a {@linkcode PublishLog}. */
export interface PublishLogParts {
  readonly database: ClusterDatabase;
  readonly keys: ClusterKeys;
  readonly log: Logger;
  /**
   * Gives a job to this master's Publisher.
   * @param again Whether its minions may have it: those without an answer get it by name.
   */
  push(delivery: Delivery, again: boolean): Promise<void>;
  /**
   * The jobs that this master's disk has as not delivered: those that it was to give to the others when it was killed
   * are among them.
   */
  pending(): readonly Delivery[];
  /** Rows of one statement. Default: 200. */
  readonly mostRows?: number;
}

interface Row {
  readonly name: string;
  readonly origin: number;
  readonly seq: string;
  readonly jid: string;
  readonly left: number;
  readonly sealed: Uint8Array;
}

/** A job that other masters do not know yet. */
interface Late {
  readonly delivery: Delivery;
  readonly untilMs: number;
}

/** The publishes of one master and of its peers. */
export class PublishLog {
  readonly #parts: PublishLogParts;
  readonly #writes: Gathered<Late>;
  readonly #mostRows: number;
  /** The last number read, of each master. */
  readonly #read = new Map<number, number>();
  /** Jobs that were pushed, with when they are over: a write that was repeated is one job. */
  readonly #known = new Map<string, number>();
  #late: Late[] = [];
  /** Whether what is not over was taken up after the start; that a new Publisher gets it too is no start. */
  #hasTakenUp = false;

  constructor(parts: PublishLogParts) {
    this.#parts = parts;
    this.#mostRows = parts.mostRows ?? MOST_ROWS;
    this.#writes = new Gathered((some) => this.#write(some), this.#mostRows);
  }

  /** Takes up what is not over, and follows the other masters from then on. */
  open(): void {
    this.#parts.database.follow("p", () => this.#look());
  }

  /**
   * Gives a job of this master to the others.
   * @returns Whether they have it; if not, they get it later if the database is back in time.
   * @throws {StoreError} If the database refuses it, as one with a full disk does: it is tried again as well.
   */
  async add(delivery: Delivery): Promise<"committed" | "away"> {
    const late = { delivery, untilMs: Date.now() + Math.max(delivery.ttlMs, LEAST_MS) };
    this.#known.set(delivery.jid, late.untilMs);
    return await this.#writeOrKeep(late);
  }

  async #writeOrKeep(late: Late): Promise<"committed" | "away"> {
    try {
      if (!this.#parts.database.away) {
        await this.#writes.add(late);
        return "committed";
      }
    } catch (error) {
      if (!(error instanceof DatabaseAwayError)) {
        this.#late.push(late);
        throw error;
      }
    }
    this.#late.push(late);
    return "away";
  }

  /** The Publisher is a new one, which knows of no jobs: it gets all that are not over. */
  async takeUpAgain(): Promise<void> {
    await this.#readRows(true);
  }

  /** Removes rows that are over. One master does it for all. */
  async clean(): Promise<void> {
    const { database } = this.#parts;
    await database.read((client) =>
      client.query(
        `delete from ${database.schema}.publishes where until < clock_timestamp() - $1 * interval '1 second'`,
        [KEPT_S],
      )
    );
  }

  async #write(some: readonly Late[]): Promise<void> {
    const { database, keys } = this.#parts, s = database.schema, nowMs = Date.now();
    const { offsets, lengths, bytes } = slices(some.map(({ delivery, untilMs }) => {
      const { load, minions, ttlMs, live } = delivery;
      const value = map({ load, minions: [...minions], ttl_ms: ttlMs, live, until_ms: untilMs });
      return keys.seal(PURPOSE, encode(value, "disk"));
    }));
    const jids = some.map(({ delivery: { jid } }) => jid);
    const left = some.map(({ untilMs }) => Math.max(0, untilMs - nowMs));
    await database.write(async (client) => {
      // Numbers go on above those of rows that were removed, as they are of the database's clock.
      await client.query(
        `insert into ${s}.publishes (origin, seq, jid, until, sealed)
         select $1, b.base + x.n, x.jid, clock_timestamp() + x.ms * interval '1 millisecond',
           substring($6::bytea from x.o for x.l)
         from unnest($2::text[], $3::float8[], $4::int[], $5::int[]) with ordinality as x(jid, ms, o, l, n),
           (select greatest(coalesce(max(seq), 0), floor(extract(epoch from clock_timestamp()) * 1000000)::bigint) as base
            from ${s}.publishes where origin = $1) as b
         order by x.n`,
        [database.origin, jids, left, offsets, lengths, bytes],
      );
      await database.wake(client, "p");
    });
  }

  async #look(): Promise<void> {
    await this.#writeLate();
    await this.#readRows(!this.#hasTakenUp);
    if (this.#hasTakenUp) return;
    await this.#giveLeft();
    this.#hasTakenUp = true;
  }

  /** Gives the others what they have not got from the run of this master before. */
  async #giveLeft(): Promise<void> {
    for (const delivery of this.#parts.pending()) {
      // One that goes to its minions a few at a time has a longer time on the disk than it had for the others.
      if (!this.#known.has(delivery.jid) && delivery.sent === undefined) await this.add(delivery);
    }
  }

  async #writeLate(): Promise<void> {
    const waiting = this.#late.filter(({ untilMs }) => untilMs > Date.now());
    this.#late = [];
    // All of them, also after one that is refused.
    const written = await Promise.allSettled(waiting.map((late) => this.#writeOrKeep(late)));
    for (const one of written) if (one.status === "rejected") throw one.reason;
  }

  /** @param again Whether to read all that are not over, also this master's own; else those that are new. */
  async #readRows(again: boolean): Promise<void> {
    const { database } = this.#parts;
    const from = again ? new Map<number, number>() : this.#read, most = this.#mostRows;
    for (let full = true; full;) {
      const rows = await database.read((client) => rowsAfter(client, database, { from, own: again, most }));
      for (const row of rows) {
        await this.#push(row, again);
        from.set(row.origin, Number(row.seq));
      }
      full = rows.length >= most;
    }
    for (const [origin, seq] of from) if (seq > (this.#read.get(origin) ?? -1)) this.#read.set(origin, seq);
    this.#forget();
  }

  async #push(row: Row, again: boolean): Promise<void> {
    const { push, log } = this.#parts;
    if (!again && this.#known.has(row.jid)) return;
    const delivery = this.#open(row);
    if (delivery === undefined) return;
    this.#known.set(row.jid, Date.now() + row.left);
    log.debug(() => `Job ${row.jid} of the master ${row.name} is published here ${again ? "again" : "too"}`);
    await push(delivery, again);
  }

  #open({ jid, name, left, sealed }: Row): Delivery | undefined {
    const refuse = (reason: string) =>
      this.#parts.log.error(`Job ${jid} of the master ${name} is not published: ${reason}`);
    try {
      const stored = decode(this.#parts.keys.open(PURPOSE, sealed), "disk");
      const load = isMap(stored) ? stored.get("load") : undefined;
      if (!isMap(stored) || !isMap(load) || load.get("jid") !== jid) return void refuse("its row holds something else");
      if (Date.now() > (toNumber(stored.get("until_ms")) ?? 0) + SKEW_MS) {
        return void refuse("it has been over for long");
      }
      return {
        jid,
        load,
        minions: listOrEmpty(stored.get("minions")).map(str),
        ttlMs: Math.min(left, toNumber(stored.get("ttl_ms")) ?? 0),
        live: stored.get("live") === true,
      };
    } catch (error) {
      if (!(error instanceof AuthenticationError) && !(error instanceof MsgpackError)) throw error;
      return void refuse(`it cannot be read: ${messageOf(error)}`);
    }
  }

  #forget(): void {
    const nowMs = Date.now();
    for (const [jid, untilMs] of this.#known) if (untilMs + SKEW_MS < nowMs) this.#known.delete(jid);
  }
}

/** The next rows that are not over. */
async function rowsAfter(
  client: Client,
  { schema, origin }: ClusterDatabase,
  { from, own, most }: { readonly from: ReadonlyMap<number, number>; readonly own: boolean; readonly most: number },
): Promise<readonly Row[]> {
  const { rows } = await client.query<Row>(
    `select m.name, p.* from ${schema}.masters m
     left join unnest($1::int[], $2::bigint[]) as pos(origin, seq) on pos.origin = m.origin
     cross join lateral (
       select origin, seq, jid, extract(epoch from until - clock_timestamp()) * 1000 as left, sealed
       from ${schema}.publishes
       where origin = m.origin and seq > coalesce(pos.seq, 0) and until > clock_timestamp()
       order by seq limit $5) as p
     where $3 or m.origin <> $4
     order by p.origin, p.seq limit $5`,
    [[...from.keys()], [...from.values()], own, origin, most],
  );
  return rows.map((row) => ({ ...row, left: Number(row.left), sealed: new Uint8Array(row.sealed) }));
}
