/**
 * Events across the masters of a cluster, through the table `events`. A master follows its own event log and stores
 * what others may need, with the number that it has in the log; and it fires what the others have stored on its own
 * bus, with their mark (lib/bus/peer_mark.ts). So what was published while the database was away follows later, and
 * nothing is fired twice: how far each other master was read is in the marks of the own log.
 * @module
 */

import type { Client } from "pg";
import { readMatching, tagEnd } from "#lib/bus/event.ts";
import { LogFollower } from "#lib/bus/log_follower.ts";
import type { BusPaths } from "#lib/bus/paths.ts";
import { peerMark, withPeerMark } from "#lib/bus/peer_mark.ts";
import { describeError, messageOf, StoreError } from "#lib/errors.ts";
import { EventLogReader, type LoggedEvent } from "#lib/event_log/reader.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { DatabaseAwayError } from "#lib/stores/postgres_connection.ts";
import { slices } from "#lib/stores/postgres_writes.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { encode } from "#lib/values/msgpack.ts";
import type { ClusterDatabase } from "./cluster_database.ts";
import { type EventPositions, readEventPositions, writeEventPositions } from "./event_positions.ts";
import { isShared } from "./shared_events.ts";

/** Events of one statement, and their bytes; one event may have more. */
const MOST_ROWS = 500, MOST_BYTES = 4 * 2 ** 20;
/** Pause before a write is tried again with the database away, in milliseconds. */
const RETRY_MS = 500;
/**
 * Pause after each write and each look, as a multiple of its time, and its most in milliseconds: what comes meanwhile
 * is one statement, in place of one for each event.
 */
const REST_TIMES = 2, MOST_REST_MS = 50;
/** Interval of records of how far the others were read, in milliseconds. */
const RECORD_MS = 1_000;

/** The parts of an {@linkcode EventExchange}. */
export interface EventExchangeParts {
  readonly database: ClusterDatabase;
  readonly paths: BusPaths;
  /** Where the events of this master are kept. */
  readonly logDirectory: string;
  /** The directory of what this master notes about its cluster. */
  readonly directory: string;
  /** When the master was started, in milliseconds since the epoch: a new one begins there. */
  readonly startedMs: number;
  readonly log: Logger;
  /** Fires an event on this master's bus; false if the bus did not take it. */
  fire(frame: Uint8Array): Promise<boolean>;
  /** Called with each event of another master that was fired. */
  onForeign?(event: ForeignEvent): void;
  /** Called with each tag of an own event. */
  onOwn?(event: LoggedEvent, tag: string): void;
}

/** An event of another master. */
export interface ForeignEvent {
  readonly master: string;
  readonly tag: string;
  /** Its data, in MessagePack. */
  readonly data: Uint8Array;
}

/** An own event that is stored. */
interface OwnRow {
  readonly number: number;
  readonly ms: number;
  readonly tag: string;
  readonly data: Uint8Array;
}

interface ForeignRow {
  readonly name: string;
  readonly seq: string;
  readonly tag: string;
  readonly body: Uint8Array;
}

/** The exchange of one master. */
export class EventExchange {
  readonly #parts: EventExchangeParts;
  readonly #ending = new AbortController();
  /** The last event of each other master that was fired here, by its name. */
  readonly #fired = new Map<string, number>();
  /** The last one of each that is in the own log. */
  readonly #logged = new Map<string, number>();
  /** The last own event whose mark was looked at, and which of them is recorded. */
  #noted = -1;
  #recorded = -1;
  #recordedMs = 0;
  #follower: LogFollower | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: EventExchangeParts) {
    this.#parts = parts;
  }

  /**
   * Begins, where this master was.
   * @throws {NoMasterError} If the bus has no log.
   * @throws {StoreError} If the database does not say what this master has stored, or is away.
   */
  async open(): Promise<void> {
    const { database, paths, logDirectory, directory, startedMs, log } = this.#parts;
    const stored = await database.read((client) => lastStored(client, database));
    const noted = readEventPositions(directory);
    if (noted === undefined) await this.#beginNow();
    else this.#noteOld(noted);
    const follower = this.#follower = await LogFollower.open({ paths, directory: logDirectory }, (reader) => {
      if (stored !== undefined) reader.seek(stored + 1);
      else reader.seekTime(startedMs);
    });
    this.#noted = Math.max(this.#noted, follower.next - 1);
    this.#record(true);
    this.#running = this.#store(follower).catch((error) =>
      log.critical(`Other masters get no events of this one any more: ${describeError(error)}`)
    );
    database.follow("e", () => this.#resting(() => this.#take()));
  }

  /** The marks in the own log since the last record. */
  #noteOld({ number, peers }: EventPositions): void {
    for (const [name, seq] of peers) this.#logged.set(name, seq);
    using reader = new EventLogReader(this.#parts.logDirectory);
    reader.seek(number + 1);
    for (let { events } = reader.read(); events.length > 0; { events } = reader.read()) {
      for (const event of events) this.#note(event);
    }
    for (const [name, seq] of this.#logged) this.#fired.set(name, seq);
  }

  /** A master that is new in the cluster takes the events from now on. */
  async #beginNow(): Promise<void> {
    const { database } = this.#parts, s = database.schema;
    const { rows } = await database.read((client) =>
      client.query<{ readonly name: string; readonly last: string | null }>(
        `select m.name, (select max(seq) from ${s}.events e where e.origin = m.origin) as last
         from ${s}.masters m where m.origin <> $1 and m.name is not null`,
        [database.origin],
      )
    );
    for (const { name, last } of rows) {
      this.#fired.set(name, Number(last ?? -1));
      this.#logged.set(name, Number(last ?? -1));
    }
  }

  /** @returns Whether the event is another master's. */
  #note(event: LoggedEvent): boolean {
    this.#noted = Math.max(this.#noted, event.number);
    const mark = peerMark(event.frame);
    if (mark === undefined) return false;
    if (mark.seq > (this.#logged.get(mark.id) ?? -1)) this.#logged.set(mark.id, mark.seq);
    return true;
  }

  /** Stores own events, until it is closed. */
  async #store(follower: LogFollower): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const batch = await follower.read(RECORD_MS);
      this.#record(false);
      if (batch === undefined) continue;
      if (batch.missed > 0) {
        this.#parts.log.error(
          `${batch.missed} events were not in the event log any more when they were to be given to other masters`,
        );
      }
      const rows: OwnRow[] = [];
      for (const event of batch.events) {
        if (this.#note(event)) continue;
        const row = sharedRow(event);
        if (row === undefined) continue;
        this.#parts.onOwn?.(event, row.tag);
        rows.push(row);
      }
      if (rows.length > 0) {
        await this.#resting(async () => {
          for (const some of portions(rows)) await this.#write(some);
        });
      }
    }
  }

  /** Does some work, and rests after it. */
  async #resting(work: () => Promise<void>): Promise<void> {
    const begunMs = performance.now();
    await work();
    const restMs = Math.min(REST_TIMES * (performance.now() - begunMs), MOST_REST_MS);
    await sleep(restMs, this.#ending.signal).catch(() => {}); // its end
  }

  /** Stores some events, as often as is needed. */
  async #write(rows: readonly OwnRow[]): Promise<void> {
    const { database, log } = this.#parts, { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        await database.write(async (client) => {
          await storeEvents(client, database, rows);
          await database.wake(client, "e");
        });
        return;
      } catch (error) {
        if (error instanceof DatabaseAwayError) {
          await sleep(RETRY_MS, signal).catch(() => {});
          continue;
        }
        if (!(error instanceof StoreError)) throw error;
        if (rows.length === 1) {
          log.error(`The event ${rows[0].tag} is not given to other masters: ${error.message}`);
          return;
        }
        // One of them is refused: it is found by halves.
        const half = Math.ceil(rows.length / 2);
        await this.#write(rows.slice(0, half));
        await this.#write(rows.slice(half));
        return;
      }
    }
  }

  /** Fires what other masters have stored. */
  async #take(): Promise<void> {
    const { database } = this.#parts;
    for (let full = true; full && !this.#ending.signal.aborted;) {
      const rows = await database.read((client) => eventsAfter(client, database, this.#fired));
      for (const row of rows) if (!await this.#fireForeign(row)) return;
      full = rows.length >= MOST_ROWS;
    }
  }

  /** @returns Whether to go on: an event that the bus did not take comes again. */
  async #fireForeign({ name, seq, tag, body }: ForeignRow): Promise<boolean> {
    const { fire, log, onForeign } = this.#parts;
    if (this.#ending.signal.aborted) return false;
    const frame = joinBytes([new TextEncoder().encode(`${tag}\n\n`), body]);
    const marked = withPeerMark(frame, { id: name, seq: Number(seq) });
    if (marked === undefined) log.warning(`The event ${tag} of the master ${name} has no data, and is not fired`);
    else if (!await fire(marked)) {
      log.error(`The event bus did not take the event ${tag} of the master ${name}`);
      return false;
    }
    this.#fired.set(name, Number(seq));
    onForeign?.({ master: name, tag, data: body });
    return true;
  }

  /** Records how far the others were read, as far as that is in the own log. */
  #record(now: boolean): void {
    if (!now && (this.#noted === this.#recorded || performance.now() - this.#recordedMs < RECORD_MS)) return;
    this.#recordedMs = performance.now();
    try {
      writeEventPositions(this.#parts.directory, { number: this.#noted, peers: this.#logged });
      this.#recorded = this.#noted;
    } catch (error) {
      this.#parts.log.error(`How far the events of other masters were read cannot be recorded: ${messageOf(error)}`);
    }
  }

  /** Ends it. What was not stored yet is stored after the next start. */
  async close(): Promise<void> {
    this.#ending.abort();
    this.#follower?.close();
    await this.#running;
    if (this.#follower !== undefined) this.#record(true);
  }
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The event as it is stored; `undefined` if others do not get it. */
function sharedRow({ number, ms, frame }: LoggedEvent): OwnRow | undefined {
  const end = tagEnd(frame);
  if (end >= 0) {
    const tag = decoder.decode(frame.subarray(0, end));
    return isShared(tag) ? { number, ms, tag, data: frame.subarray(end + 2) } : undefined;
  }
  // An old program on this host has fired it.
  const event = readMatching(frame, isShared);
  return event && { number, ms, tag: event.tag, data: encode(event.data, "disk") };
}

/** Portions of one statement each. */
function* portions(rows: readonly OwnRow[]): Generator<OwnRow[]> {
  let some: OwnRow[] = [], bytes = 0;
  for (const row of rows) {
    if (some.length > 0 && (some.length >= MOST_ROWS || bytes + row.data.length > MOST_BYTES)) {
      yield some;
      [some, bytes] = [[], 0];
    }
    some.push(row);
    bytes += row.data.length;
  }
  if (some.length > 0) yield some;
}

/** The number of the last event that this master has stored; `undefined`: none is there. */
async function lastStored(client: Client, { schema, origin }: ClusterDatabase): Promise<number | undefined> {
  const { rows: [row] } = await client.query<{ readonly last: string | null }>(
    `select max(seq) as last from ${schema}.events where origin = $1`,
    [origin],
  );
  return row === undefined || row.last === null ? undefined : Number(row.last);
}

/** Stores events; those that are there stay. */
async function storeEvents(
  client: Client,
  { schema, origin }: ClusterDatabase,
  rows: readonly OwnRow[],
): Promise<void> {
  const { offsets, lengths, bytes } = slices(rows.map(({ data }) => data));
  await client.query(
    `insert into ${schema}.events (origin, seq, at, tag, body)
     select $1, x.seq, to_timestamp(x.ms / 1000.0), x.tag, substring($7::bytea from x.o for x.l)
     from unnest($2::bigint[], $3::float8[], $4::text[], $5::int[], $6::int[]) as x(seq, ms, tag, o, l)
     order by x.seq on conflict do nothing`,
    [
      origin,
      rows.map(({ number }) => number),
      rows.map(({ ms }) => ms),
      rows.map(({ tag }) => tag.toWellFormed()),
      offsets,
      lengths,
      bytes,
    ],
  );
}

/** The next events of the other masters. */
async function eventsAfter(
  client: Client,
  { schema, origin }: ClusterDatabase,
  from: ReadonlyMap<string, number>,
): Promise<readonly ForeignRow[]> {
  const { rows } = await client.query<ForeignRow>(
    `select m.name, e.seq, e.tag, e.body from ${schema}.masters m
     left join unnest($1::text[], $2::bigint[]) as pos(name, seq) on pos.name = m.name
     cross join lateral (
       select seq, tag, body from ${schema}.events
       where origin = m.origin and seq > coalesce(pos.seq, -1) order by seq limit ${MOST_ROWS}) as e
     where m.origin <> $3 and m.name is not null
     order by m.origin, e.seq limit ${MOST_ROWS}`,
    [[...from.keys()], [...from.values()], origin],
  );
  return rows;
}
