/**
 * Which minions are connected to which master of a cluster. Each master writes its own into the table `presence`, as
 * far as that has changed, and has those of the others from their events (`salt/presence/change`) at once, and from the
 * table from time to time. A row counts while its master lives: the minions of a dead one are absent without a write.
 *
 * What is known is in a file for the commands of this host (lib/fleet/presence_file.ts).
 * @module
 */

import type { Client } from "pg";
import { messageOf } from "#lib/errors.ts";
import { writePeersPresence } from "#lib/fleet/presence_file.ts";
import { PacedWork } from "#lib/runtime/paced_work.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { DatabaseAwayError } from "#lib/stores/postgres_connection.ts";
import { decodeIfWhole } from "#lib/values/msgpack.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isMap, str } from "#lib/values/value.ts";
import type { ClusterDatabase } from "./cluster_database.ts";

/** Changes of this master are collected for this time, in milliseconds. */
const GATHER_MS = 100;
/** Interval in which the whole table is read, and minions that report nothing are looked for, in milliseconds. */
const ROUND_MS = 10_000;
/** Wait before the file is written when the database has gone away or peers have changed, in milliseconds. */
const LOOK_MS = 500;
/** Rows of one statement. */
const MOST_ROWS = 5_000;

/** The parts of a {@linkcode PresenceExchange}. */
export interface PresenceExchangeParts {
  readonly database: ClusterDatabase;
  readonly cachedir: string;
  readonly log: Logger;
  /** The minions that say that they are connected to this master: id → since when, in milliseconds since the epoch. */
  own(): ReadonlyMap<string, number>;
  /**
   * Minions that say nothing (Python's), and seem to be connected.
   * @param isKnown Whether another master has it; by its address alone it may seem to be connected to several.
   */
  seen?(isKnown: (id: string) => boolean): Iterable<string>;
  /** Interval in which the whole table is read, in milliseconds. Default: ten seconds. */
  readonly roundMs?: number;
}

/** A minion of another master. */
interface Foreign {
  readonly master: string;
  readonly sinceMs: number;
}

/** The presence of one master's minions and of its peers'. */
export class PresenceExchange {
  readonly #parts: PresenceExchangeParts;
  /** What the table has of this master; `undefined`: not known. */
  #written: Map<string, number> | undefined;
  #foreign: Map<string, Foreign> = new Map();
  /** The minions that say nothing, since when. */
  #seen = new Map<string, number>();
  readonly #flushing = new PacedWork(() => this.#flushOrLog(), GATHER_MS);
  readonly #showing = new PacedWork(() => this.#write());
  #round: Timer | undefined;
  #look: Timer | undefined;
  /** Differs if the minions of other masters do. */
  #version = 0;
  #shown = "";
  #closed = false;

  constructor(parts: PresenceExchangeParts) {
    this.#parts = parts;
  }

  /** Begins; what a predecessor wrote is replaced. */
  async open(): Promise<void> {
    this.#write();
    await this.#wholeRound();
    this.#lookLater();
  }

  /** Connections of this master have changed. */
  noteOwn(): void {
    this.#flushing.ask();
  }

  /**
   * Another master says which minions have connected and disconnected.
   * @param data The data of its event, in MessagePack.
   */
  noteForeign(master: string, data: Uint8Array): void {
    const change = decodeIfWhole(data);
    if (!isMap(change)) return;
    for (const id of listOrEmpty(change.get("new"))) this.#foreign.set(str(id), { master, sinceMs: Date.now() });
    for (const id of listOrEmpty(change.get("lost")).map(str)) {
      if (this.#foreign.get(id)?.master === master) this.#foreign.delete(id);
      // The row may have been that master's, as it connected there last: now it is to be this one's.
      if (this.#written?.delete(id)) this.noteOwn();
    }
    this.#version++;
    this.#showing.ask();
  }

  async #flushOrLog(): Promise<void> {
    try {
      await this.#flush();
    } catch (error) {
      this.#written = undefined;
      if (error instanceof DatabaseAwayError) return;
      this.#parts.log.error(`Which minions are connected here is not told to other masters: ${messageOf(error)}`);
    }
  }

  /** All that are connected here. */
  #here(): Map<string, number> {
    const here = new Map(this.#seen);
    for (const id of this.#foreign.keys()) here.delete(id);
    for (const [id, since] of this.#parts.own()) here.set(id, since);
    return here;
  }

  #lookForSilent(): void {
    const nowMs = Date.now(), before = this.#seen;
    const ids = this.#parts.seen?.((id) => this.#foreign.has(id)) ?? [];
    this.#seen = new Map([...ids].map((id) => [id, before.get(id) ?? nowMs]));
  }

  /** Writes what the table does not have yet. */
  async #flush(): Promise<void> {
    const { database } = this.#parts, now = this.#here();
    const before = this.#written;
    const come = [...now].filter(([id, since]) => before?.get(id) !== since);
    const gone = before === undefined ? undefined : [...before.keys()].filter((id) => !now.has(id));
    if (come.length === 0 && gone?.length === 0) return;
    this.#written = undefined;
    await database.read(async (client) => {
      await removeRows(client, database, { gone, kept: [...now.keys()] });
      for (let at = 0; at < come.length; at += MOST_ROWS) {
        await addRows(client, database, come.slice(at, at + MOST_ROWS));
      }
    });
    this.#written = now;
  }

  async #wholeRound(): Promise<void> {
    this.#round = undefined;
    try {
      await this.#readAll();
    } catch (error) {
      // The next round finds it; with the database away what is known stays.
      if (!(error instanceof DatabaseAwayError)) {
        this.#parts.log.error(`Which minions are connected to other masters cannot be read: ${messageOf(error)}`);
      }
    }
    this.noteOwn();
    if (!this.#closed) {
      this.#round = setTimeout(() => void this.#wholeRound(), this.#parts.roundMs ?? ROUND_MS);
    }
  }

  async #readAll(): Promise<void> {
    const { database } = this.#parts, s = database.schema;
    const { rows } = await database.read((client) =>
      client.query<{ readonly minion: string; readonly name: string; readonly own: boolean; readonly since: number }>(
        `select p.minion, m.name, p.origin = $1 as own, extract(epoch from p.since)::float8 * 1000 as since
         from ${s}.presence p join ${s}.masters m on m.origin = p.origin`,
        [database.origin],
      )
    );
    const there = new Set<string>(), foreign = new Map<string, Foreign>();
    for (const { minion, name, own, since } of rows) {
      if (own) there.add(minion);
      else foreign.set(minion, { master: name, sinceMs: Number(since) });
    }
    if (!isSame(this.#foreign, foreign)) this.#version++;
    this.#foreign = foreign;
    // Another master had it too, and has lost it: the row was that of the last one to connect.
    this.#lookForSilent();
    for (const id of this.#here().keys()) {
      if (!there.has(id) && !this.#foreign.has(id)) this.#written?.delete(id);
    }
    this.#write();
  }

  /** Peers die and the database goes away without an event. */
  #lookLater(): void {
    this.#look = setTimeout(() => {
      this.#showing.ask();
      this.#lookLater();
    }, LOOK_MS);
  }

  /** Writes the file, if it would be another one. */
  #write(): void {
    const { database, cachedir, log } = this.#parts;
    const alive = new Set(database.peers.values()), away = database.away;
    const shown = JSON.stringify([this.#version, away, [...alive].sort()]);
    if (shown === this.#shown) return;
    // While the database is away nobody's life is known: what was known before stands.
    const present = new Map(
      [...this.#foreign].filter(([, { master }]) => away || alive.has(master)).map((
        [id, { sinceMs }],
      ) => [id, sinceMs]),
    );
    this.#shown = shown;
    try {
      writePeersPresence(cachedir, { present, away });
    } catch (error) {
      log.error(`The file of the minions of other masters cannot be written: ${messageOf(error)}`);
    }
  }

  /** Ends it, and removes the rows of this master, if the database answers. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of [this.#round, this.#look]) clearTimeout(timer);
    await Promise.all([this.#flushing.close(), this.#showing.close()]);
    const { database } = this.#parts;
    if (database.away) return;
    await database.read((client) => removeRows(client, database, { gone: undefined, kept: [] }), 0).catch((error) => {
      if (!(error instanceof DatabaseAwayError)) throw error; // without it the rows end with the life of this master
    });
  }
}

function isSame(one: ReadonlyMap<string, Foreign>, other: ReadonlyMap<string, Foreign>): boolean {
  return one.size === other.size &&
    [...one].every(([id, { master, sinceMs }]) => {
      const there = other.get(id);
      return there?.master === master && there.sinceMs === sinceMs;
    });
}

/** Removes rows of this master: those of `gone`, or all but those of `kept`. */
async function removeRows(
  client: Client,
  { schema, origin }: ClusterDatabase,
  { gone, kept }: { readonly gone: readonly string[] | undefined; readonly kept: readonly string[] },
): Promise<void> {
  if (gone?.length === 0) return;
  await client.query(
    `delete from ${schema}.presence where origin = $1 and ${
      gone === undefined ? "minion <> all ($2)" : "minion = any ($2)"
    }`,
    [origin, gone ?? kept],
  );
}

/** Writes rows of this master. A minion that has connected elsewhere since stays there. */
async function addRows(
  client: Client,
  { schema, origin }: ClusterDatabase,
  rows: readonly (readonly [id: string, sinceMs: number])[],
): Promise<void> {
  await client.query(
    `insert into ${schema}.presence as p (minion, origin, since)
     select x.minion, $1, to_timestamp(x.ms / 1000.0) from unnest($2::text[], $3::float8[]) as x(minion, ms)
     order by 1 on conflict (minion) do update set origin = excluded.origin, since = excluded.since
     where p.origin = excluded.origin or p.since <= excluded.since`,
    [origin, rows.map(([id]) => id), rows.map(([, ms]) => ms)],
  );
}
