/**
 * The jobs that a minion is running, each in a worker of its own, and a warm worker for the next.
 *
 * A worker that is ready waits for the next job, so that `test.ping` costs no start-up; a job can be signalled and killed.
 * A worker may do what the functions of its jobs declare. The main thread loads no modules, so a job goes to a worker
 * without permissions first; that one says what the function declares, and it is remembered for the next time.
 * @module
 */

import { ChildPids } from "./child_pids.ts";
import type { RunningJob } from "./job_context.ts";
import {
  type Asked,
  type FromJob,
  type JobWorkerInit,
  type Knowledge,
  pack,
  type ToJob,
  unpack,
} from "./job_protocol.ts";
import { RequestTimeoutError } from "./errors.ts";
import { sendSignal } from "./libc.ts";
import type { Written } from "./live_output.ts";
import type { Logger } from "./log.ts";
import type { ProcState } from "./proc_files.ts";
import { IdleWorkers } from "./idle_workers.ts";
import { moduleDirectories } from "./loader.ts";
import { asNoted, isNoLog } from "./no_log.ts";
import type { MinionOpts } from "./options.ts";
import { unpackOpts } from "./opts_transfer.ts";
import { permissionKey, type Permissions, workerPermissions } from "./permissions.ts";
import { sleep } from "./sleep.ts";
import { Thread } from "./thread.ts";
import { isMap, map, str, toValue, type Value, type ValueMap } from "./value.ts";

/** After SIGTERM, how long a job may take to end before its worker is killed, in milliseconds. */
const TERM_MS = 5_000;

/** When the minion ends, how long the commands of its jobs may take to do so before they are killed, in milliseconds. */
const CLOSE_MS = 500;

/** What the return of a job says whose minion ended, by how far the job was. */
const INTERRUPTED: Readonly<Record<ProcState, string>> = {
  running: "The minion ended while it ran this job",
  queued: "The minion ended before it began this job",
};
/**
 * How long a job keeps a worker before another is started for the next one, in milliseconds. Most are over by then, and a
 * minion that has one job at a time has one worker, which is 8 MB less than two.
 */
const SPARE_MS = 50;

/** Workers that knew different versions of a module could hand a job to and fro. */
const MOST_MOVES = 3;

const SIGKILL = 9;
const SIGTERM = 15;
const SIGINT = 2;

/** What a pool is made of. */
export interface JobPoolOptions {
  /** The minion's packed options. */
  readonly opts: Uint8Array;
  /** Grains and pillar at the start. */
  readonly knowledge: Knowledge;
  /** The minion's log. */
  readonly log: Logger;
  /** Answers what jobs ask of the minion; `running` and `signal` the pool answers itself. */
  answer(asked: Asked): Promise<Value>;
  /** How long a job may take to end itself when it is told to, before its worker is killed, in milliseconds. Default: 5,000. */
  readonly termMs?: number;
}

interface Job {
  readonly jid: string;
  readonly load: ValueMap;
  readonly done: PromiseWithResolvers<ValueMap>;
  readonly onOutput: (written: Written) => void;
  /** The signal that it was told to end by. */
  ended?: number;
  /** How often a worker has said that another is the right one. */
  moves: number;
}

type Worker = Thread<JobWorkerInit>;

/** What a worker may do, and the name of that. */
interface Allowed {
  readonly permissions: Permissions;
  readonly key: string;
}

const NOTHING: Allowed = { permissions: "none", key: "none" };

/** The pool. */
export class JobPool {
  readonly #options: JobPoolOptions;
  readonly #idle = new IdleWorkers<Worker>();
  readonly #busy = new Map<Worker, Job>();
  /** Workers that know yesterday's modules: they end with their job. */
  readonly #stale = new WeakSet<Worker>();
  readonly #children = new WeakMap<Worker, ChildPids>();
  /** The name of what each worker may do. */
  readonly #keys = new WeakMap<Worker, string>();
  /** What functions were found to declare, by their names in a load. */
  readonly #declared = new Map<string, Allowed>();
  readonly #opts: MinionOpts;
  #knowledge: Knowledge;
  #spareTimer: ReturnType<typeof setTimeout> | undefined;
  #started = 0;
  #closed = false;

  /** Starts the first worker. */
  constructor(options: JobPoolOptions) {
    this.#options = options;
    this.#opts = unpackOpts<MinionOpts>(options.opts);
    this.#knowledge = options.knowledge;
    this.#warm();
  }

  /** How many jobs are being run. */
  get size(): number {
    return this.#busy.size;
  }

  /**
   * Runs the job in `load`. @param onOutput Takes what its commands write, if the load asks for that (`live`).
   * @returns Its outcome: `return`, `retcode`, `success`, maybe `out`. Never rejects.
   */
  run(load: ValueMap, onOutput: (written: Written) => void = () => {}): Promise<ValueMap> {
    if (this.#closed) return Promise.resolve(interrupted("queued"));
    const job: Job = { jid: str(load.get("jid") ?? ""), load, done: Promise.withResolvers(), onOutput, moves: 0 };
    this.#give(job, this.#declared.get(functionsOf(load)) ?? NOTHING);
    return job.done.promise;
  }

  /** Gives a job to a worker that may do exactly this. */
  #give(job: Job, allowed: Allowed): void {
    let worker: Worker;
    try {
      worker = this.#idle.take(allowed.key) ?? this.#start(allowed);
    } catch (error) {
      // A declaration that Deno does not take: a path of an option that does not exist, a host that is none.
      const reason = error instanceof Error ? error.message : String(error);
      return job.done.resolve(failure(`The permissions that the function declares cannot be given: ${reason}`));
    }
    this.#busy.set(worker, job);
    // Messages wait in the worker's queue until it is ready.
    this.#tell(worker, { kind: "run", load: pack(job.load) });
    this.#spareTimer ??= setTimeout(() => {
      this.#spareTimer = undefined;
      this.#warm();
    }, SPARE_MS);
  }

  /** Moves a job that was not begun to a worker that may do what its functions declare. */
  #move(worker: Worker, permissions: Permissions): void {
    const job = this.#busy.get(worker);
    if (job === undefined) return;
    const allowed = { permissions, key: permissionKey(permissions) };
    this.#busy.delete(worker);
    this.#shelve(worker);
    if (job.ended !== undefined) return job.done.resolve(failure(`The job was ended by signal ${job.ended}`));
    if (++job.moves > MOST_MOVES) {
      return job.done.resolve(
        failure("The module of the function was changed while the job began: refresh the modules"),
      );
    }
    this.#declared.set(functionsOf(job.load), allowed);
    this.#give(job, allowed);
  }

  /** The jobs that are being run now. */
  running(): RunningJob[] {
    return [...this.#busy.values()].map(({ jid, load: published }) => {
      const load = asNoted(published);
      const text = (key: string) => str(load.get(key) ?? "");
      return {
        jid,
        fun: text("fun"),
        arg: load.get("arg") ?? [],
        tgt: load.get("tgt") ?? "",
        tgt_type: text("tgt_type"),
        ret: text("ret"),
        user: text("user"),
        pid: Deno.pid,
      };
    });
  }

  /**
   * Sends a signal to job `jid`: to the process groups of its commands; SIGTERM and SIGINT also tell the job itself to
   * end, SIGKILL ends it at once.
   * @returns Whether such a job was running.
   */
  signal(jid: string, signal: number): boolean {
    for (const [worker, job] of this.#busy) {
      if (job.jid !== jid) continue;
      for (const pid of this.#commands(worker)) sendSignal(-pid, signal);
      if (signal === SIGKILL) this.#kill(worker, signal);
      if (signal === SIGTERM || signal === SIGINT) {
        job.ended = signal;
        this.#tell(worker, { kind: "abort" });
        const timer = setTimeout(
          () => this.#busy.get(worker) === job && this.#kill(worker, signal),
          this.#options.termMs ?? TERM_MS,
        );
        void job.done.promise.then(() => clearTimeout(timer));
      }
      return true;
    }
    return false;
  }

  /** New grains or pillar, for the jobs from now on. */
  learn(knowledge: Knowledge): void {
    this.#knowledge = knowledge;
    for (const worker of [...this.#idle.all, ...this.#busy.keys()]) {
      this.#tell(worker, { kind: "knowledge", knowledge });
    }
  }

  /** Modules are to be loaded anew: by new workers, for a module that is loaded stays so for a thread's life. */
  async reload(): Promise<void> {
    for (const worker of this.#busy.keys()) this.#stale.add(worker);
    this.#declared.clear();
    const old = this.#idle.clear();
    this.#warm();
    await Promise.all(old.map((worker) => worker.stop()));
  }

  /** One line a worker: what it is doing. */
  async describe(): Promise<string[]> {
    const workers = [...this.#idle.all, ...this.#busy.keys()];
    return await Promise.all(workers.map(async (worker) => `${worker.name}: ${await worker.describe()}`));
  }

  /** Ends every job, with an outcome that says so, and every worker. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#spareTimer);
    const children: number[] = [];
    for (const worker of [...this.#busy.keys()]) {
      worker.kill(); // from now on it starts nothing
      children.push(...this.#commands(worker));
      this.#finish(worker, interrupted("running"), false);
    }
    for (const pid of children) sendSignal(-pid, SIGTERM);
    await Promise.all([...this.#idle.clear().map((worker) => worker.stop()), killUnlessEnded(children)]);
  }

  /** Process groups of the commands that a worker's job is running. */
  #commands(worker: Worker): number[] {
    return this.#children.get(worker)?.list() ?? [];
  }

  #kill(worker: Worker, signal: number): void {
    worker.kill();
    for (const pid of this.#commands(worker)) sendSignal(-pid, SIGKILL);
    this.#finish(worker, failure(`The job was ended by signal ${signal}`), false);
  }

  #warm(): void {
    if (!this.#closed && !this.#idle.hasFree) this.#idle.add(this.#start(NOTHING), NOTHING.key);
  }

  /** @throws {TypeError} If the permissions cannot be given. */
  #start(allowed: Allowed): Worker {
    const children = new ChildPids();
    const { extension_modules, module_dirs } = this.#opts;
    const modules = moduleDirectories({ extensionModules: extension_modules, moduleDirs: module_dirs });
    const worker: Worker = new Thread<JobWorkerInit>({
      name: `Job-${this.#started++}`,
      url: new URL("./job_worker.ts", import.meta.url),
      init: {
        opts: this.#options.opts,
        knowledge: this.#knowledge,
        permissions: allowed.permissions,
        children: children.memory,
      },
      permissions: workerPermissions(allowed.permissions, { opts: this.#opts, modules }),
      log: this.#options.log,
      onDeath: (reason) => {
        const job = this.#busy.get(worker);
        const hidden = job !== undefined && isNoLog(job.load);
        this.#options.log.error(`A job worker died: ${hidden ? `of job ${job.jid}, which is no_log` : reason}`);
        for (const pid of this.#commands(worker)) sendSignal(-pid, SIGTERM);
        this.#finish(worker, failure(`The job's worker died: ${reason}`), false);
      },
      onMessage: (message) => this.#hear(worker, message as FromJob),
    });
    this.#children.set(worker, children);
    this.#keys.set(worker, allowed.key);
    return worker;
  }

  #tell(worker: Worker, message: ToJob): void {
    worker.post(message);
  }

  #hear(worker: Worker, message: FromJob): void {
    switch (message.kind) {
      case "done": {
        const outcome = unpack(message.outcome);
        return this.#finish(worker, isMap(outcome) ? outcome : failure("The job's worker sent no outcome"), true);
      }
      case "behind":
        return;
      case "output":
        return this.#busy.get(worker)?.onOutput(message.written);
      case "elsewhere":
        return this.#move(worker, message.permissions);
      case "ask":
        return void this.#answer(worker, message.id, message.asked);
    }
  }

  async #answer(worker: Worker, id: number, asked: Asked): Promise<void> {
    try {
      const value = asked.what === "running"
        ? toValue(this.running())
        : asked.what === "signal"
        ? this.signal(asked.jid, asked.signal)
        : await this.#options.answer(asked);
      this.#tell(worker, { kind: "answer", id, value: pack(value) });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const timeout = error instanceof RequestTimeoutError
        ? { address: error.address, waitedMs: error.waitedMs }
        : undefined;
      this.#tell(worker, { kind: "refused", id, reason, timeout });
    }
  }

  #finish(worker: Worker, outcome: ValueMap, alive: boolean): void {
    const job = this.#busy.get(worker);
    this.#busy.delete(worker);
    this.#idle.remove(worker);
    job?.done.resolve(outcome);
    if (alive) this.#shelve(worker);
  }

  /** Keeps a worker for the next job, unless it is of no more use. */
  #shelve(worker: Worker): void {
    if (this.#closed || this.#stale.has(worker)) void worker.stop();
    else this.#idle.put(worker, this.#keys.get(worker) ?? "");
  }
}

/** The functions of a job, as one text. */
function functionsOf(load: ValueMap): string {
  return JSON.stringify(load.get("fun") ?? null);
}

/** Waits a little for process groups that were asked to end, and then makes them. */
async function killUnlessEnded(pids: readonly number[]): Promise<void> {
  const deadline = performance.now() + CLOSE_MS;
  while (pids.some((pid) => sendSignal(-pid, 0)) && performance.now() < deadline) await sleep(20);
  for (const pid of pids) sendSignal(-pid, SIGKILL);
}

/** The outcome of a job whose minion ended. */
export function interrupted(state: ProcState): ValueMap {
  return new Map([...failure(INTERRUPTED[state]), ["interrupted", true]]);
}

function failure(text: string): ValueMap {
  return map({ return: text, retcode: 1, success: false, out: "nested" });
}
