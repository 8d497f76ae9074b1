/**
 * The database of a cluster in PostgreSQL: one connection writes, another reads, a third hears the others.
 * @module
 */

import type { Client } from "pg";
import type { Logger } from "#lib/runtime/log.ts";
import { PostgresAttempts } from "#lib/stores/postgres_attempts.ts";
import type { PostgresPlace } from "#lib/stores/postgres_options.ts";
import { inTransaction } from "#lib/stores/transaction.ts";
import type { ClusterDatabase, WakeKind } from "./cluster_database.ts";
import { ControlConnection } from "./control_connection.ts";
import { WakeUps } from "./wake_ups.ts";

/** Which master of the cluster this one is. */
export interface ClusterIdentity {
  readonly origin: number;
  readonly incarnation: number;
}

/** What the database is opened with. */
export interface PostgresClusterOptions {
  readonly place: PostgresPlace;
  readonly identity: ClusterIdentity;
  /** How long a write or a read waits for the database, in milliseconds. */
  readonly waitMs: number;
  /** The time after which a silent master counts as gone, in milliseconds. */
  readonly leaseMs: number;
  readonly log: Logger;
}

/** How long a read may take, in milliseconds. */
const READ_MS = 60_000;

/** See {@linkcode ClusterDatabase}. */
export class PostgresCluster implements ClusterDatabase {
  readonly schema: string;
  readonly #options: PostgresClusterOptions;
  readonly #writer: PostgresAttempts;
  readonly #reader: PostgresAttempts;
  readonly #wakeUps: WakeUps;
  readonly #onUp: (() => void)[] = [];
  #control: ControlConnection | undefined;
  #peers: ReadonlyMap<number, string> = new Map();
  #writing: Promise<unknown> = Promise.resolve();
  #away = false;

  constructor(options: PostgresClusterOptions) {
    const { place, waitMs, log } = this.#options = options;
    this.schema = place.schema;
    this.#writer = new PostgresAttempts(place, {
      statementMs: Math.max(1_000, waitMs),
      prepare: () => Promise.resolve(),
    });
    this.#reader = new PostgresAttempts(place, {
      statementMs: READ_MS,
      prepare: async (client) => void await client.query("set synchronous_commit = off"),
    });
    this.#wakeUps = new WakeUps((text) => log.error(`The cluster: ${text}`), () => this.#away);
  }

  /** As {@linkcode ClusterDatabase} says. */
  get origin(): number {
    return this.#options.identity.origin;
  }

  /** As {@linkcode ClusterDatabase} says. */
  get incarnation(): number {
    return this.#options.identity.incarnation;
  }

  /** As {@linkcode ClusterDatabase} says. */
  get peers(): ReadonlyMap<number, string> {
    return this.#peers;
  }

  /** The heartbeat has seen who lives. */
  setPeers(peers: ReadonlyMap<number, string>): void {
    this.#peers = peers;
  }

  /** As {@linkcode ClusterDatabase} says. */
  get away(): boolean {
    return this.#away;
  }

  /** As {@linkcode ClusterDatabase} says. */
  write<T>(run: (client: Client) => Promise<T>, waitMs = this.#options.waitMs): Promise<T> {
    const untilMs = performance.now() + waitMs;
    const written = this.#writing.then(() =>
      this.#writer.attempt(untilMs, (client) => inTransaction(client, () => run(client)))
    );
    this.#writing = written.catch(() => {}); // its caller has the error; the next one writes
    return written;
  }

  /** As {@linkcode ClusterDatabase} says. */
  read<T>(run: (client: Client) => Promise<T>, waitMs = this.#options.waitMs): Promise<T> {
    return this.#reader.attempt(performance.now() + waitMs, run);
  }

  /** As {@linkcode ClusterDatabase} says. */
  follow(kind: WakeKind, look: () => Promise<void>): void {
    this.#connection();
    this.#wakeUps.follow(kind, look);
  }

  /** Runs statements in the connection that hears the others, for the signs of life. */
  control<T>(statements: (client: Client) => Promise<T>): Promise<T> {
    return this.#connection().run(statements);
  }

  /** Calls `run` whenever the database answers again, before the looks. */
  whenUp(run: () => void): void {
    this.#onUp.push(run);
    if (this.#connection().up) run();
  }

  #connection(): ControlConnection {
    const { place, leaseMs, log } = this.#options;
    return this.#control ??= new ControlConnection(place, Math.max(1_000, leaseMs / 2), {
      onWake: (kind) => this.#wakeUps.wake(kind),
      onUp: () => {
        if (this.#away) log.warning("The database of the cluster is back");
        this.#away = false;
        for (const run of this.#onUp) run();
        this.#wakeUps.wake();
      },
      onDown: (reason) => {
        if (!this.#away) log.error(`The database of the cluster is away: ${reason}`);
        this.#away = true;
      },
    });
  }

  /** As {@linkcode ClusterDatabase} says. */
  async wake(client: Client, kind: WakeKind): Promise<void> {
    await client.query("select pg_notify($1, $2)", [this.schema, kind]);
  }

  /** Ends the connections, when what is running has ended. */
  async close(): Promise<void> {
    await this.#wakeUps.close();
    await this.#writing;
    await Promise.all([this.#writer.close(), this.#reader.close(), this.#control?.close()]);
  }
}
