/**
 * A model of a cluster's PostgreSQL: jobs in SQLite, the tables by which masters meet in memory. A transaction happens
 * at one moment; the way to it takes time, and can be cut for all masters or for one. An answer can be lost after the
 * commit, and wake-ups can be lost. It knows the statements of the parts that a simulation runs, and no others.
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
import { newMachine, SimulatedProcess, world } from "./world.ts";

/** Milliseconds of the way to the database, and of the way back. */
const LEAST_MS = 0.2, MOST_MS = 10;
/** How often the answer to a committed transaction is lost. */
const LOST_ANSWER = 0.03;
/** How often a wake-up is lost. */
const LOST_WAKE_UP = 0.2;
/** Pause before a transaction is tried again, and between two looks whether the database answers, in milliseconds. */
const RETRY_MS = 100, LOOK_MS = 300;

/** How often a master may read a row: at its start, and as answers are lost. */
const MOST_READS = 50;

/** The row of a master. */
interface MemberRow {
  incarnation: number;
  name: string;
  untilMs: number;
}

/** The row of a lease. */
interface ModelLease {
  origin: number;
  incarnation: number;
  untilMs: number;
}

/** The row of a publish. */
interface PublishRow {
  readonly origin: number;
  readonly seq: number;
  readonly jid: string;
  readonly untilMs: number;
  readonly sealed: Uint8Array;
}

/** What a statement is given. */
type Parameters_ = readonly unknown[];

/** The database of one world. */
export class ModelDatabase {
  readonly members = new Map<number, MemberRow>();
  readonly leases = new Map<string, ModelLease>();
  publishes: PublishRow[] = [];
  /** How often a run of a master was given a row. */
  readonly given = new Map<string, number>();
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
  async call<T>(run: () => T | Promise<T>, { losesAnswers = false } = {}): Promise<T> {
    await travel();
    if (!this.answers) throw new DatabaseAwayError("the simulated database is away", "");
    // What it does has happened, whatever comes of who asked.
    const result = await world().within(this.#process, run);
    await travel();
    if (!this.answers || losesAnswers && world().random.chance(LOST_ANSWER)) {
      throw new DatabaseAwayError("the answer of the simulated database is lost", "");
    }
    return result;
  }

  /** The rows of jobs, as a master reaches them. */
  get rows(): JobRows {
    return new Proxy<JobRows>(this.#rows, {
      get: (rows, name: keyof JobRows) => {
        if (name === "close") return () => Promise.resolve();
        return (...given: unknown[]) => this.call(() => Reflect.apply(rows[name], rows, given), { losesAnswers: true });
      },
    });
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

/** The database as one master uses it. */
export class ModelCluster implements ClusterDatabase, MembersDatabase {
  readonly schema = "salt";
  readonly origin: number;
  readonly incarnation: number;
  peers: ReadonlyMap<number, string> = new Map();
  readonly #database: ModelDatabase;
  readonly #waitMs: number;
  readonly #wakeUps: WakeUps;
  readonly #onUp: (() => void)[] = [];
  #away = false;
  #writing: Promise<unknown> = Promise.resolve();

  /** Takes the row of the master `origin`, in the current process. */
  constructor(
    database: ModelDatabase,
    { origin, leaseMs, waitMs }: { readonly origin: number; readonly leaseMs: number; readonly waitMs: number },
  ) {
    this.#database = database;
    this.origin = origin;
    this.#waitMs = waitMs;
    this.incarnation = (database.members.get(origin)?.incarnation ?? 0) + 1;
    const untilMs = world().nowMs + leaseMs;
    database.members.set(origin, { incarnation: this.incarnation, name: `master-${origin}`, untilMs });
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
    this.#away = !this.#database.answers;
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

  write<T>(run: (client: Client) => Promise<T>, waitMs = this.#waitMs): Promise<T> {
    const untilMs = performance.now() + waitMs;
    const written = this.#writing.then(() => this.#attempt(run, untilMs));
    this.#writing = written.catch(() => {}); // its caller has the error
    return written;
  }

  read<T>(run: (client: Client) => Promise<T>, waitMs = this.#waitMs): Promise<T> {
    return this.#attempt(run, performance.now() + waitMs);
  }

  control<T>(run: (client: Client) => Promise<T>): Promise<T> {
    return this.#database.call(() => run(this.#client()));
  }

  async #attempt<T>(run: (client: Client) => Promise<T>, untilMs: number): Promise<T> {
    for (;;) {
      try {
        return await this.#database.call(() => run(this.#client()), { losesAnswers: true });
      } catch (error) {
        if (!(error instanceof DatabaseAwayError) || performance.now() + RETRY_MS > untilMs) throw error;
        await sleep(RETRY_MS);
      }
    }
  }

  follow(kind: WakeKind, look: () => Promise<void>): void {
    this.#wakeUps.follow(kind, look);
  }

  wake(_client: Client, kind: WakeKind): Promise<void> {
    this.#database.notify(kind);
    return Promise.resolve();
  }

  #client(): Client {
    const query = (sql: string, parameters: Parameters_ = []) =>
      Promise.resolve(answerStatement(this.#database, sql, parameters));
    return { query } as unknown as Client;
  }
}

/** The rows that a statement gives, and how many it has changed. */
interface Answer {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly rowCount: number;
}

function given(...rows: Readonly<Record<string, unknown>>[]): Answer {
  return { rows, rowCount: rows.length };
}

/** Statements by what only they contain. */
const STATEMENTS: readonly (readonly [RegExp, (database: ModelDatabase, parameters: Parameters_) => Answer])[] = [
  [/insert into salt\.publishes/, addPublishes],
  [/from salt\.publishes\s+where origin = m\.origin/, publishesAfter],
  [/update salt\.masters set seen/, sign],
  [/insert into salt\.leases/, takeLeases],
  [/select origin, name from salt\.masters/, livePeers],
];

/** @throws {Error} If the model does not know the statement. */
function answerStatement(database: ModelDatabase, sql: string, parameters: Parameters_): Answer {
  const found = STATEMENTS.find(([pattern]) => pattern.test(sql));
  if (found === undefined) throw new Error(`the simulated database does not know ${sql}`);
  return found[1](database, parameters);
}

function addPublishes(database: ModelDatabase, parameters: Parameters_): Answer {
  const [origin, jids, left, offsets, lengths, bytes] = parameters as [
    number,
    string[],
    number[],
    number[],
    number[],
    Uint8Array,
  ];
  const own = database.publishes.filter((row) => row.origin === origin).map(({ seq }) => seq);
  const base = Math.max(0, Math.floor(world().nowMs * 1_000), ...own);
  database.publishes.push(...jids.map((jid, i) => ({
    origin,
    jid,
    seq: base + i + 1,
    untilMs: world().nowMs + left[i],
    // SQL counts from 1.
    sealed: bytes.slice(offsets[i] - 1, offsets[i] - 1 + lengths[i]),
  })));
  return given();
}

/** @throws {Error} If a master reads the same rows again and again. */
function publishesAfter({ publishes, members, given: times }: ModelDatabase, parameters: Parameters_): Answer {
  const [origins, seqs, own, self, most] = parameters as [number[], number[], boolean, number, number];
  const from = new Map(origins.map((origin, i) => [origin, seqs[i]]));
  const rows = publishes.filter(({ origin, seq, untilMs }) =>
    (own || origin !== self) && seq > (from.get(origin) ?? 0) && untilMs > world().nowMs
  ).toSorted((a, b) => a.origin - b.origin || a.seq - b.seq).slice(0, most);
  for (const { origin, seq } of rows) {
    const key = `${self} ${members.get(self)?.incarnation} ${origin} ${seq}`, count = (times.get(key) ?? 0) + 1;
    if (count > MOST_READS) throw new Error("the same publishes are read again and again");
    times.set(key, count);
  }
  return given(
    ...rows.map(({ origin, seq, jid, untilMs, sealed }) => ({
      name: members.get(origin)?.name ?? "",
      origin,
      seq: String(seq),
      jid,
      left: untilMs - world().nowMs,
      sealed,
    })),
  );
}

function sign({ members }: ModelDatabase, [origin, incarnation, leaseMs]: Parameters_): Answer {
  const row = members.get(Number(origin));
  if (row === undefined || row.incarnation !== incarnation) return given();
  row.untilMs = world().nowMs + Number(leaseMs);
  return given({});
}

function takeLeases({ leases }: ModelDatabase, parameters: Parameters_): Answer {
  const [origin, incarnation, leaseMs, names] = parameters as [number, number, number, string[]];
  const { nowMs } = world();
  return given(
    ...names.filter((name) => {
      const held = leases.get(name);
      const isFree = held === undefined || held.untilMs < nowMs ||
        (held.origin === origin && held.incarnation <= incarnation);
      if (isFree) leases.set(name, { origin, incarnation, untilMs: nowMs + leaseMs });
      return isFree;
    }).map((name) => ({ name })),
  );
}

function livePeers({ members }: ModelDatabase, [self]: Parameters_): Answer {
  const live = [...members].filter(([origin, { untilMs }]) => origin !== self && untilMs > world().nowMs);
  return given(...live.map(([origin, { name }]) => ({ origin, name })));
}
