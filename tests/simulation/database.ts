/**
 * A model of a cluster's PostgreSQL: jobs in SQLite, the tables by which masters meet in memory. A transaction happens
 * at one moment; the way to it takes time, and can be cut for all masters or for one. An answer can be lost after the
 * commit, and wake-ups can be lost. The statements are in statements.ts.
 * @module
 */

import type { Client } from "pg";
import type { ClusterDatabase, WakeKind } from "#lib/cluster/cluster_database.ts";
import type { MembersDatabase } from "#lib/cluster/cluster_members.ts";
import { WakeUps } from "#lib/cluster/wake_ups.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";
import { sleep } from "#lib/os/sleep.ts";
import { setInterval } from "#lib/os/timers.ts";
import { DatabaseAwayError } from "#lib/stores/postgres_connection.ts";
import type { JobRows } from "#lib/stores/rows.ts";
import { SqliteRows } from "#lib/stores/sqlite_rows.ts";
import { answerStatement } from "./statements.ts";
import { ModelTables, type PublishRow } from "./tables.ts";
import { newMachine, SimulatedProcess, world } from "#tests/simulation/world/world.ts";

/** Milliseconds of the way to the database, and of the way back. */
const LEAST_MS = 0.2, MOST_MS = 10;
/** How often the answer to a committed transaction is lost. */
const LOST_ANSWER = 0.03;
/** How often a wake-up is lost. */
const LOST_WAKE_UP = 0.2;
/** How long rows that nobody should have written are valid, in milliseconds. */
const FORGED_MS = 60_000;
/** Pause before a transaction is tried again, and between two looks whether the database answers, in milliseconds. */
const RETRY_MS = 100, LOOK_MS = 300;

/** The database of one world. */
export class ModelDatabase {
  readonly tables = new ModelTables();
  /** Wake-ups of the masters that are connected. */
  readonly ears = new Set<(kind: WakeKind) => void>();
  readonly #directory = Deno.makeTempDirSync({ prefix: "simulated_database_" });
  readonly #process = new SimulatedProcess("database", newMachine());
  readonly #rows: SqliteRows;
  readonly #has;
  #awayUntilMs = 0;
  readonly #cutUntilMs = new Map<SimulatedProcess["name"], number>();

  constructor() {
    const path = `${this.#directory}/rows`;
    this.#rows = new SqliteRows({ path, synced: false, waitMs: 1_000 });
    this.#rows.open();
    const { DatabaseSync } = nodeBuiltin("node:sqlite");
    const reader = new DatabaseSync(path);
    this.#has = { reader, statement: reader.prepare("select 1 from returns where jid = ? and minion = ?") };
  }

  /** Whether a return is stored. */
  has(jid: string, id: string): boolean {
    return this.#has.statement.get(jid, id) !== undefined;
  }

  /** Nobody reaches it for a time. */
  goAway(ms: number): void {
    this.#awayUntilMs = world().nowMs + ms;
  }

  /** A process does not reach it for a time. */
  cut(name: string, ms: number): void {
    this.#cutUntilMs.set(name, world().nowMs + ms);
  }

  /** Whether the current process reaches it. */
  get answers(): boolean {
    const { nowMs, process } = world();
    return nowMs >= Math.max(this.#awayUntilMs, this.#cutUntilMs.get(process?.name ?? "") ?? 0);
  }

  /** @throws {DatabaseAwayError} If the database is not reached, or the answer is lost. */
  async call<T>(run: () => T | Promise<T>, { lostAnswers = 0 } = {}): Promise<T> {
    await travel();
    if (!this.answers) throw new DatabaseAwayError("the simulated database is away", "");
    // What it does has happened, whatever comes of who asked.
    const result = await world().within(this.#process, run);
    await travel();
    if (!this.answers || lostAnswers > 0 && world().random.chance(lostAnswers)) {
      throw new DatabaseAwayError("the answer of the simulated database is lost", "");
    }
    return result;
  }

  /** The rows of jobs, as a master reaches them. */
  get rows(): JobRows {
    return new Proxy<JobRows>(this.#rows, {
      get: (rows, name: keyof JobRows) => {
        if (name === "close") return () => Promise.resolve();
        return (...given: unknown[]) =>
          this.call(() => Reflect.apply(rows[name], rows, given), { lostAnswers: LOST_ANSWER });
      },
    });
  }

  /** Somebody who may write to the database adds rows to the publishes, the last ones of the first master. */
  forge(rows: readonly PublishRow[]): void {
    const last = Math.max(0, ...this.tables.publishes.map(({ seq }) => seq), world().nowMs * 1_000);
    const untilMs = world().nowMs + FORGED_MS;
    this.tables.publishes.push(
      ...rows.map((row, i) => ({ ...row, origin: 1, seq: Math.floor(last) + 1 + i, untilMs })),
    );
    this.notify("p");
  }

  /** Wakes whoever is connected. */
  notify(kind: WakeKind): void {
    for (const ear of this.ears) if (!world().random.chance(LOST_WAKE_UP)) ear(kind);
  }

  [Symbol.dispose](): void {
    this.#has.reader.close();
    void this.#rows.close();
    Deno.removeSync(this.#directory, { recursive: true });
  }
}

let running: ModelDatabase | undefined;

/** The database of the running world. */
export function modelDatabase(): ModelDatabase {
  if (running === undefined) throw new Error("No database is running");
  return running;
}

/** Begins a database without rows. */
export function beginDatabase(): ModelDatabase {
  return running = new ModelDatabase();
}

async function travel(): Promise<void> {
  await sleep(world().random.between(LEAST_MS, MOST_MS));
}

/** Reads and writes of one process. */
export class ModelConnection {
  readonly schema = "salt";
  protected readonly database: ModelDatabase;
  readonly #waitMs: number;
  readonly #lostAnswers: number;
  #writing: Promise<unknown> = Promise.resolve();

  /**
   * @param waitMs How long a transaction is repeated while the database is away.
   * @param lostAnswers How often the answer to one that was committed is lost.
   */
  constructor(database: ModelDatabase, waitMs: number, lostAnswers = LOST_ANSWER) {
    this.database = database;
    this.#lostAnswers = lostAnswers;
    this.#waitMs = waitMs;
  }

  write<T>(run: (client: Client) => Promise<T>, waitMs = this.#waitMs): Promise<T> {
    const untilMs = performance.now() + waitMs;
    const written = this.#writing.then(() => this.#attempt(run, untilMs));
    this.#writing = written.catch(() => {}); // its caller has the error
    return written;
  }

  read<T>(run: (client: Client) => Promise<T>, waitMs = this.#waitMs): Promise<T> {
    return this.#attempt(run, performance.now() + waitMs);
  }

  async #attempt<T>(run: (client: Client) => Promise<T>, untilMs: number): Promise<T> {
    for (;;) {
      try {
        return await this.database.call(() => run(this.client()), { lostAnswers: this.#lostAnswers });
      } catch (error) {
        if (!(error instanceof DatabaseAwayError) || performance.now() + RETRY_MS > untilMs) throw error;
        await sleep(RETRY_MS);
      }
    }
  }

  wake(_client: Client, kind: WakeKind): Promise<void> {
    this.database.notify(kind);
    return Promise.resolve();
  }

  /** What transactions are given. */
  protected client(): Client {
    const query = (sql: string, parameters: readonly unknown[] = []) =>
      Promise.resolve(answerStatement(this.database.tables, sql, parameters));
    return { query } as unknown as Client;
  }
}

/** The database as one master uses it. */
export class ModelCluster extends ModelConnection implements ClusterDatabase, MembersDatabase {
  readonly origin: number;
  readonly incarnation: number;
  peers: ReadonlyMap<number, string> = new Map();
  readonly #wakeUps: WakeUps;
  readonly #onUp: (() => void)[] = [];
  #away = false;

  /** Takes the row of the master `origin`, in the current process. */
  constructor(
    database: ModelDatabase,
    { origin, name, leaseMs, waitMs }: {
      readonly origin: number;
      readonly name: string;
      readonly leaseMs: number;
      readonly waitMs: number;
    },
  ) {
    super(database, waitMs);
    this.origin = origin;
    this.incarnation = (database.tables.members.get(origin)?.incarnation ?? 0) + 1;
    const untilMs = world().nowMs + leaseMs;
    database.tables.members.set(origin, { incarnation: this.incarnation, name, untilMs, sinceMs: world().nowMs });
    this.#wakeUps = new WakeUps((text) => world().note(`cluster: ${text}`), () => this.#away);
    const { process } = world();
    database.ears.add((kind) => {
      if (!this.#away) {
        world().after(world().random.between(LEAST_MS, MOST_MS), () => this.#wakeUps.wake(kind), process);
      }
    });
    setInterval(() => this.#look(), LOOK_MS);
  }

  #look(): void {
    const wasAway = this.#away;
    this.#away = !this.database.answers;
    if (!wasAway || this.#away) return;
    for (const run of this.#onUp) run();
    this.#wakeUps.wake();
  }

  get away(): boolean {
    return this.#away;
  }

  setPeers(peers: ReadonlyMap<number, string>): void {
    this.peers = peers;
  }

  whenUp(run: () => void): void {
    this.#onUp.push(run);
    if (!this.#away) run();
  }

  control<T>(run: (client: Client) => Promise<T>): Promise<T> {
    return this.database.call(() => run(this.client()));
  }

  follow(kind: WakeKind, look: () => Promise<void>): void {
    this.#wakeUps.follow(kind, look);
  }
}
