/**
 * Masters of a cluster without masters: their database, buses and logs, for tests of what passes between them.
 * @module
 */

import { unpackMatching } from "#lib/bus/event.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { BusPump } from "#lib/bus/pump.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { EventExchange, type EventExchangeParts } from "#lib/cluster/event_exchange.ts";
import { PostgresCluster } from "#lib/cluster/postgres_cluster.ts";
import { EventLogReader } from "#lib/event_log/reader.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { postgresOptions } from "#lib/stores/postgres_options.ts";
import { PostgresRows } from "#lib/stores/postgres_rows.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { type PostgresServer, startPostgres } from "#tests/support/database_servers.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";

const LIMITS = { keepS: 3600, maxBytes: 1 << 30 };

/** A database with the tables of a cluster. */
export interface ClusterPlace extends AsyncDisposable {
  readonly server: PostgresServer;
  /** A member with this number; its name is `master-<number>`. Closed at the end. */
  member(origin: number): Promise<Member>;
}

/** A member of the cluster, as far as its database goes. */
export interface Member {
  readonly database: PostgresCluster;
  readonly log: Logger;
  /** What it has logged. */
  readonly lines: string[];
}

/** Starts a database, and makes the tables. */
export async function startClusterPlace(): Promise<ClusterPlace> {
  const server = await startPostgres();
  const place = postgresOptions({ postgresql: map({ host: "127.0.0.1", port: server.port }) });
  const rows = new PostgresRows({ connection: place, waitMs: 10_000, keepSeconds: 86_400 });
  await rows.open();
  await rows.close();
  const open: PostgresCluster[] = [];
  return {
    server,
    async member(origin) {
      await server.sql(
        `insert into salt.masters (origin, name, incarnation, until) values (${origin}, 'master-${origin}', 1,
         now() + interval '1 hour') on conflict (origin) do nothing`,
      );
      const { log, lines } = memoryLog();
      const identity = { origin, incarnation: 1 };
      const database = new PostgresCluster({ place, identity, waitMs: 300, leaseMs: 10_000, log });
      open.push(database);
      return { database, log, lines };
    },
    async [Symbol.asyncDispose]() {
      for (const database of open) await database.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A bus with a log, and the exchange of its events. */
export class BusMember implements AsyncDisposable {
  readonly directory: string;
  readonly exchange: EventExchange;
  readonly #pump: BusPump;
  readonly #sender: EventSender;

  private constructor(directory: string, { pump, sender, exchange }: {
    readonly pump: BusPump;
    readonly sender: EventSender;
    readonly exchange: EventExchange;
  }) {
    this.directory = directory;
    this.#pump = pump;
    this.#sender = sender;
    this.exchange = exchange;
  }

  /** Opens what is in this directory, as a master that starts does. */
  static async open(
    directory: string,
    { database, log }: Member,
    more: Partial<EventExchangeParts> = {},
  ): Promise<BusMember> {
    const paths = masterBus(directory), logDirectory = `${directory}/log`;
    Deno.mkdirSync(directory, { recursive: true });
    const pump = await BusPump.open(paths, {
      log,
      eventLog: { directory: logDirectory, ...LIMITS, firstNumber: Date.now() * 100 },
    });
    const sender = new EventSender(paths.pull);
    const exchange = new EventExchange({
      database,
      paths,
      logDirectory,
      directory: `${directory}/cluster`,
      startedMs: Date.now() - 60_000,
      log,
      fire: (frame) => sender.firePacked(frame),
      ...more,
    });
    await exchange.open();
    return new BusMember(directory, { pump, sender, exchange });
  }

  /** Fires an event. */
  async fire(tag: string, data: ValueMap): Promise<void> {
    await this.#sender.fire(tag, data);
  }

  /** Fires an event of this form. */
  async fireFrame(frame: Uint8Array): Promise<void> {
    await this.#sender.firePacked(frame);
  }

  /** All events in the log, in their order. */
  events(): { readonly tag: string; readonly data: ValueMap }[] {
    using reader = new EventLogReader(`${this.directory}/log`);
    reader.seek(0);
    const found: { readonly tag: string; readonly data: ValueMap }[] = [];
    for (let { events } = reader.read(); events.length > 0; { events } = reader.read()) {
      for (const { frame } of events) {
        const event = unpackMatching(frame, () => true);
        if (event !== undefined) found.push(event);
      }
    }
    return found;
  }

  /** The field `n` of the events of another master, in their order. */
  numbersFrom(name: string): Value[] {
    return this.events().filter(({ data }) => data.get("__peer_id") === name).map(({ data }) => data.get("n") ?? null);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.exchange.close();
    this.#sender.close();
    await this.#pump.close();
  }
}
