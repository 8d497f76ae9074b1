/**
 * A simulated minion: its real connection to the master (link, subscription, reader of publishes, spool of returns),
 * jobs, proc files and memory of job ids, in one process of the world. Its jobs take a while and do nothing.
 * @module
 */

import type { MinionOpts } from "#lib/config/options.ts";
import type { PrivateKey } from "#lib/crypto/rsa.ts";
import { KeptReturns } from "#lib/jobs/kept_returns.ts";
import { JidMemory } from "#lib/minion/masters/jid_memory.ts";
import { minionJournal, restoreMinion } from "#lib/minion/agent/journal.ts";
import { MinionJobs } from "#lib/minion/agent/jobs.ts";
import { MasterConnection } from "#lib/minion/masters/master_connection.ts";
import { ProcFiles } from "#lib/minion/worker/proc_files.ts";
import { RequestTimeoutError, WireError } from "#lib/errors.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { map, str, type ValueMap } from "#lib/values/value.ts";
import { applicantOf } from "#tests/support/fleet/applicant.ts";
import type { Ledger, StoredReturns } from "./ledger.ts";
import { type SimulatedProcess, world } from "#tests/simulation/world/world.ts";

/** What a minion is started with. */
export interface MinionParts {
  readonly process: SimulatedProcess;
  readonly opts: MinionOpts;
  readonly key: PrivateKey;
  readonly log: Logger;
  readonly ledger: Ledger;
  /** The master's store, as one looks at it from outside. */
  readonly store: StoredReturns;
  /** The addresses of its masters, which are tried in turn. */
  readonly masters: readonly string[];
  /** Gets the minion when it connects. */
  onMade(minion: SimulatedMinion): void;
}

/** The longest job, in milliseconds. */
const LONGEST_JOB_MS = 3_000;

/** A return that the master does not take, and what came of it and of those behind it. */
export interface HeldReturn {
  readonly kind: "refused" | "silent";
  /** Since when, in milliseconds of the world. */
  readonly sinceMs: number;
  /** Its job; `undefined` before it is sent first. */
  jid?: string;
  /** When it was sent, in milliseconds of the world. */
  readonly triesMs: number[];
  /** The returns that were acknowledged meanwhile, how long each waited, in milliseconds, and after how many tries. */
  readonly behind: { readonly jid: string; readonly waitedMs: number; readonly tries: number }[];
  /** The jobs of others that were not taken for reasons of their own, such as a database that is away. */
  readonly failed: Set<string>;
}

/** How long a minion waits for an answer that does not come, in milliseconds. */
const SILENCE_MS = 3_000;

/** A connection that tells which returns the master has acknowledged, and may hold one back. */
class ObservedConnection extends MasterConnection {
  /** Called with a return that was acknowledged. */
  onAcknowledged: (jid: string) => void = () => {};
  /** Called before a return is sent. */
  beforeReturn: () => void = () => {};
  held: HeldReturn | undefined;
  tries = 0;

  override async ask(load: ValueMap): Promise<void> {
    const jid = str(load.get("jid") ?? "");
    if (load.get("cmd") !== "_return") return await super.ask(load);
    this.tries++;
    this.beforeReturn();
    await this.#hold(jid);
    try {
      await super.ask(load);
    } catch (error) {
      this.held?.failed.add(jid);
      throw error;
    }
    this.onAcknowledged(jid);
  }

  async #hold(jid: string): Promise<void> {
    if (this.held === undefined || (this.held.jid ??= jid) !== jid) return;
    this.held.triesMs.push(world().nowMs);
    if (this.held.kind === "refused") throw new WireError("the master could not take it");
    await sleep(SILENCE_MS);
    throw new RequestTimeoutError("tcp://127.0.0.1:4506", SILENCE_MS);
  }
}

/** A running minion, as one looks at it from outside. */
export class SimulatedMinion {
  readonly #connection: ObservedConnection;
  readonly #closing: AbortController;
  readonly #endedMs: ReadonlyMap<string, number>;

  /** @param endedMs When its jobs have ended, in milliseconds of the world. */
  constructor(connection: ObservedConnection, closing: AbortController, endedMs: ReadonlyMap<string, number>) {
    this.#connection = connection;
    this.#closing = closing;
    this.#endedMs = endedMs;
  }

  /** Number of returns that the master has not acknowledged. */
  get waiting(): number {
    return this.#connection.spool.size;
  }

  /** The jobs whose returns the master has not acknowledged, and when each has ended, in milliseconds of the world. */
  get unacknowledged(): readonly (readonly [jid: string, endedMs: number])[] {
    return [...this.#connection.spool.jids()].map((jid) => [jid, this.#endedMs.get(jid) ?? Infinity]);
  }

  /** How often it has sent a return. */
  get tries(): number {
    return this.#connection.tries;
  }

  /** The next return is not acknowledged until {@linkcode release}. */
  hold(kind: HeldReturn["kind"]): HeldReturn {
    return this.#connection.held = { kind, sinceMs: world().nowMs, triesMs: [], behind: [], failed: new Set() };
  }

  /** Ends a {@linkcode hold}. */
  release(): void {
    this.#connection.held = undefined;
  }

  /** Whether it was told to end. */
  get isEnding(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Ends it, as its service does. */
  async stop(): Promise<void> {
    this.#closing.abort(new Error("The minion ends"));
    this.#connection.close();
    await this.#connection.spool.close();
  }
}

/** Runs jobs by waiting. */
function idlePool({ process, opts, ledger, store }: MinionParts, endedMs: Map<string, number>) {
  const running = new Set<string>();
  return {
    get size() {
      return running.size;
    },
    run(load: ValueMap): Promise<ValueMap> {
      const jid = str(load.get("jid") ?? "");
      // A dead process goes on until it waits; what it begins has not happened.
      if (!process.alive) return new Promise(() => {});
      if (load.get("fun") === "saltutil.find_job") return Promise.resolve(isRunning(load, running));
      ledger.begin(jid, opts.id, store);
      running.add(jid);
      return new Promise((resolve) => {
        world().after(world().random.between(1, LONGEST_JOB_MS), () => {
          running.delete(jid);
          endedMs.set(jid, world().nowMs);
          resolve(map({ return: true, retcode: 0, success: true }));
        });
      });
    },
  };
}

/** The answer to the question whether a job runs. */
function isRunning(load: ValueMap, running: ReadonlySet<string>): ValueMap {
  const [jid] = listOrEmpty(load.get("arg"));
  const answer = typeof jid === "string" && running.has(jid) ? map({ jid }) : map({});
  return map({ return: answer, retcode: 0, success: true });
}

/** A minion keeps so many returns as its options say, and none for longer. */
function checkSpool({ id, cachedir, ...opts }: MinionOpts, breaks: (text: string) => void): void {
  const directory = `${cachedir}/returns`;
  const names = [...Deno.readDirSync(directory)].map(({ name }) => name).filter((name) => /^\d+\.p$/.test(name));
  const bytes = names.reduce((sum, name) => sum + Deno.statSync(`${directory}/${name}`).size, 0);
  const { return_spool_max_size: mostBytes, return_spool_max_age: mostS } = opts;
  if (bytes > mostBytes && names.length > 1) breaks(`${id} keeps ${bytes} bytes of returns`);
  const ageS = (Date.now() - Number.parseInt(names.toSorted()[0] ?? "") / 1000) / 1000;
  if (ageS > mostS) breaks(`${id} keeps a return for ${Math.round(ageS)} s`);
}

/** Starts a minion, in the current process. */
export async function startMinion(parts: MinionParts): Promise<void> {
  const { opts, key, log, ledger } = parts;
  const memory = { min: opts.minion_jid_queue_hwm, path: `${opts.cachedir}/jids`, log };
  await restoreMinion(opts, () => new JidMemory(memory), log);
  const journal = minionJournal(opts, log);
  const proc = new ProcFiles(opts.cachedir, journal);
  const jids = new JidMemory({ ...memory, journal });
  for (const { load } of proc.left) jids.add(str(load.get("jid") ?? ""));
  const closing = new AbortController(), endedMs = new Map<string, number>();
  const connection = new ObservedConnection(
    {
      opts,
      log,
      applicant: applicantOf(opts.id, key, opts.pki_dir),
      jids,
      journal,
      kept: new KeptReturns(opts.cachedir, log),
      closing: closing.signal,
      grains: () => new Map(),
      admit: (jid, load) => jobs.note(jid, load, "running"),
      take: (load) => jobs.take(load),
      onServing: () => {},
      fireLocal: () => Promise.resolve(true),
      fail: (error) => {
        throw error;
      },
    },
    parts.masters.map((host) => ({ host, port: opts.master_port })),
    { isOneOfSeveral: false },
  );
  connection.onAcknowledged = (jid) => {
    ledger.acknowledge(jid, opts.id);
    const ended = endedMs.get(jid) ?? -Infinity, { held } = connection;
    if (held !== undefined && ended >= held.sinceMs && !held.failed.has(jid)) {
      held.behind.push({ jid, waitedMs: world().nowMs - ended, tries: held.triesMs.length });
    }
  };
  const jobs = new MinionJobs({
    opts,
    log,
    pool: idlePool(parts, endedMs),
    spool: connection.spool,
    returners: { give: () => {} },
    proc,
    journal,
    fireMaster: (event) => fire(connection, opts.id, event),
    fireLocal: () => Promise.resolve(true),
    maxRequestBytes: () => connection.maxRequestBytes,
    onStateRun: () => {},
  });
  connection.beforeReturn = () => checkSpool(opts, (text) => ledger.breaks(text));
  parts.onMade(new SimulatedMinion(connection, closing, endedMs));
  await jobs.returnLeft();
  await connection.connect();
  connection.spool.flush();
}

/** Sends an event once, as a minion does. */
async function fire(connection: MasterConnection, id: string, event: ValueMap): Promise<boolean> {
  try {
    await connection.ask(new Map([...map({ id, cmd: "_minion_event" }), ...event]));
    return true;
  } catch {
    return false;
  }
}
