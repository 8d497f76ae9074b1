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
}

/** The longest job, in milliseconds. */
const LONGEST_JOB_MS = 3_000;

/** A connection that tells which returns the master has acknowledged. */
class ObservedConnection extends MasterConnection {
  /** Called with a return that was acknowledged. */
  onAcknowledged: (load: ValueMap) => void = () => {};

  override async ask(load: ValueMap): Promise<void> {
    await super.ask(load);
    if (load.get("cmd") === "_return") this.onAcknowledged(load);
  }
}

/** Runs jobs by waiting. */
function idlePool({ process, opts, ledger, store }: MinionParts) {
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

/** Starts a minion, in the current process. */
export async function startMinion(parts: MinionParts): Promise<void> {
  const { opts, key, log, ledger } = parts;
  const memory = { min: opts.minion_jid_queue_hwm, path: `${opts.cachedir}/jids`, log };
  await restoreMinion(opts, () => new JidMemory(memory), log);
  const journal = minionJournal(opts, log);
  const proc = new ProcFiles(opts.cachedir, journal);
  const jids = new JidMemory({ ...memory, journal });
  for (const { load } of proc.left) jids.add(str(load.get("jid") ?? ""));
  const connection = new ObservedConnection(
    {
      opts,
      log,
      applicant: applicantOf(opts.id, key, opts.pki_dir),
      jids,
      journal,
      kept: new KeptReturns(opts.cachedir, log),
      closing: new AbortController().signal,
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
  connection.onAcknowledged = (load) => ledger.acknowledge(str(load.get("jid") ?? ""), opts.id);
  const jobs = new MinionJobs({
    opts,
    log,
    pool: idlePool(parts),
    spool: connection.spool,
    returners: { give: () => {} },
    proc,
    journal,
    fireMaster: (event) => fire(connection, opts.id, event),
    fireLocal: () => Promise.resolve(true),
    maxRequestBytes: () => connection.maxRequestBytes,
    onStateRun: () => {},
  });
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
