/**
 * Runs a minion's jobs, each in its own worker, or in its own process if it belongs to a custom module. A started
 * worker waits for the next job, so `test.ping` has no start-up cost. Jobs can be signalled and killed.
 *
 * A job runs with the permissions that its functions declare. The main thread loads no modules, so a job goes to a
 * worker without permissions first; that worker reports the declared permissions, which are then cached. A worker loads
 * only built-in modules. The permissions of a custom module are read from the text of its file (custom_modules.ts). Its
 * process may serve the same module with the same permissions again for a while, but no other job after a `no_log` job.
 * @module
 */

import { CustomModules } from "./custom_modules.ts";
import type { RunningJob } from "../plugins/job_context.ts";
import type { JobHost } from "./job_host.ts";
import { type Asked, type FromJob, type FromModule, type HostData, pack, type ToJob, unpack } from "./job_protocol.ts";
import { JobThread } from "./job_thread.ts";
import { messageOf, RequestTimeoutError } from "../errors.ts";
import { sendSignal } from "../os/libc.ts";
import type { WrittenOutput } from "./live_output.ts";
import type { Logger } from "../process/log.ts";
import { interruptedReturn } from "./interrupted.ts";
import { IdleWorkers } from "./idle_workers.ts";
import { moduleDirectories } from "./catalogue.ts";
import { unpackOutcome } from "./module_messages.ts";
import { ModuleProcess } from "./module_process.ts";
import { asNoted, isNoLog } from "../protocol/no_log.ts";
import type { MinionOpts } from "../config/options.ts";
import { unpackOpts } from "../config/opts_transfer.ts";
import {
  joinPermissions,
  mayStartAnything,
  permissionKey,
  type Permissions,
  workerPermissions,
} from "../plugins/permissions.ts";
import { sleep } from "../os/sleep.ts";
import { CLOSE_MS, TimeBudget } from "../os/time_budget.ts";
import { isMap, map, str, toValue, type Value, type ValueMap } from "../values/value.ts";
import { WarmProcesses } from "./warm_processes.ts";
import { clearTimeout, setTimeout, type Timer } from "../os/timers.ts";

/** Time after SIGTERM in which a job may end before its worker is killed, in milliseconds. */
const TERM_MS = 5_000;

/** Time for the commands of jobs to end before they are killed when the minion ends, in milliseconds. */
const GRACE_MS = 500;

/**
 * A job that lasts longer makes the pool start another worker for the next one, in milliseconds. Most jobs are shorter,
 * so a minion with one job at a time has one worker, which takes 8 MB less than two.
 */
const SPARE_MS = 50;

/** Maximum time for describing all custom modules, in milliseconds. */
const DESCRIBE_MS = 15_000;

const SIGKILL = 9;
const SIGTERM = 15;
const SIGINT = 2;

/** Options of a {@linkcode JobPool}. */
export interface JobPoolOptions {
  /** The minion's options, packed. */
  readonly opts: Uint8Array;
  /** Grains and pillar at the start. */
  readonly hostData: HostData;
  readonly log: Logger;
  /** Answers requests of jobs to the minion, except `running` and `signal`, which the pool answers itself. */
  answer(asked: Asked): Promise<Value>;
  /** Time in which a job may end after it was told to, before its worker is killed, in milliseconds. Default: 5,000. */
  readonly termMs?: number;
  /** Whether the pool runs only custom modules, and outcomes contain the thrown error (`error`); for `salt-call`. */
  readonly customOnly?: boolean;
  /** The file of its threads. Default: job_worker.ts. */
  readonly threadUrl?: URL;
}

interface Job {
  readonly jid: string;
  readonly load: ValueMap;
  readonly done: PromiseWithResolvers<ValueMap>;
  /** Whether an earlier minion began it, and commands of it went on. */
  readonly resumed: boolean;
  readonly onOutput: (written: WrittenOutput) => void;
  /** For a function called by another one: its arguments, packed, and the calling host. */
  readonly called?: { readonly call: Uint8Array; readonly by?: JobHost };
  /** The signal that told it to end. */
  ended?: number;
  /** Whether its host was killed. */
  killed?: boolean;
}

/** The permissions of a worker, and their key. */
interface Allowed {
  readonly permissions: Permissions;
  readonly key: string;
}

const NOTHING: Allowed = { permissions: "none", key: "none" };

/** The outcome of a job that this minion leaves to the next one, because it ends and the job's command goes on. */
export const LEFT: ValueMap = new Map();

/** Starts, reuses and ends the workers that run jobs. */
export class JobPool {
  readonly #options: JobPoolOptions;
  readonly #idle = new IdleWorkers<JobHost>();
  readonly #warmProcesses = new WarmProcesses<ModuleProcess>();
  readonly #busy = new Map<JobHost, Job>();
  /** Workers with outdated modules; they end after their job. */
  readonly #stale = new WeakSet<JobHost>();
  /** The permissions of each worker or process. */
  readonly #allowed = new WeakMap<JobHost, Allowed>();
  /** The key under which a process waits after its job, if it may be used again. */
  readonly #processKeys = new WeakMap<JobHost, string>();
  /** The permissions of functions so far, by their names in a load. */
  readonly #declared = new Map<string, Allowed>();
  readonly #opts: MinionOpts;
  #custom: CustomModules;
  #described: Promise<Value> | undefined;
  /** Number of killed threads that never ended. */
  #stuckThreads = 0;
  #hostData: HostData;
  #spareTimer: Timer | undefined;
  #started = 0;
  #closed = false;

  /** Starts the first worker. */
  constructor(options: JobPoolOptions) {
    this.#options = options;
    this.#opts = unpackOpts("minion", options.opts);
    this.#hostData = options.hostData;
    this.#custom = this.#findCustom();
    this.#warm();
  }

  #findCustom(): CustomModules {
    const packed = this.#hostData.grains;
    return new CustomModules(this.#opts, () => {
      const grains = unpack(packed);
      return isMap(grains) ? grains : new Map();
    });
  }

  /** Number of running jobs. */
  get size(): number {
    return this.#jobs().length;
  }

  /** The jobs, without calls of functions by other functions. */
  #jobs(): [JobHost, Job][] {
    return [...this.#busy].filter(([, job]) => job.called === undefined);
  }

  /**
   * Runs the job in `load`. @param onOutput Called with its commands' output, if the load asks for it (`live`).
   * @param options.resumed Whether an earlier minion began the job, and commands of it went on. Default: false.
   * @returns Its outcome: `return`, `retcode`, `success`, maybe `out`; or {@linkcode LEFT}. Never rejects.
   */
  run(
    load: ValueMap,
    onOutput: (written: WrittenOutput) => void = () => {},
    { resumed = false }: { readonly resumed?: boolean } = {},
  ): Promise<ValueMap> {
    return this.#run(load, { onOutput, resumed });
  }

  /**
   * Runs a function of a custom module that another function calls, with the permissions of its own file.
   * @param call The arguments, packed: `args`, `kwargs`.
   */
  call(load: ValueMap, call: Uint8Array): Promise<ValueMap> {
    return this.#run(load, { onOutput: () => {}, resumed: false, called: { call } });
  }

  #run(load: ValueMap, { onOutput, resumed, called }: Pick<Job, "onOutput" | "resumed" | "called">): Promise<ValueMap> {
    if (this.#closed) return Promise.resolve(interruptedReturn("queued"));
    const jid = str(load.get("jid") ?? "");
    const job: Job = { jid, load, done: Promise.withResolvers(), onOutput, resumed, called };
    const funs = functionNames(load);
    if (!this.#custom.concerns(funs)) this.#give(job, this.#declared.get(functionsOf(load)) ?? NOTHING);
    // For a mixed job, a worker must report the permissions of the built-in functions.
    else if (funs.every((fun) => this.#custom.concerns([fun]))) this.#giveProcess(job, "none");
    else this.#give(job, NOTHING);
    return job.done.promise;
  }

  /** Gives a job to a worker with exactly these permissions. */
  #give(job: Job, allowed: Allowed): void {
    try {
      this.#hand(job, this.#idle.take(allowed.key) ?? this.#start(allowed));
    } catch (error) {
      job.done.resolve(notGiven(error));
    }
    this.#spareTimer ??= setTimeout(() => {
      this.#spareTimer = undefined;
      this.#warm();
    }, SPARE_MS);
  }

  /** Gives a job to a process of its custom modules. @param others The permissions of its other functions. */
  #giveProcess(job: Job, others: Permissions): void {
    const funs = functionNames(job.load);
    let declaration;
    try {
      declaration = this.#custom.declaration(funs);
    } catch (error) {
      return job.done.resolve(failure(`ERROR executing '${funs.join(",")}': ${messageOf(error)}`));
    }
    // A function that another one calls has the caller's permissions.
    const caller = job.called?.by;
    const permissions = caller === undefined
      ? joinPermissions([declaration.permissions, others])
      : this.#allowed.get(caller)?.permissions ?? "none";
    const key = `${declaration.modules.join(" ")} ${permissionKey(permissions)}`;
    const noLog = isNoLog(job.load);
    let process = noLog ? undefined : this.#warmProcesses.take(key);
    try {
      process ??= this.#startProcess(declaration.modules, permissions, { silent: noLog });
    } catch (error) {
      return job.done.resolve(notGiven(error));
    }
    // A process that had the arguments of a `no_log` job gets no other job.
    if (!noLog) this.#processKeys.set(process, key);
    process.begin(`running ${funs.join(",")} for job ${job.jid}`);
    this.#hand(job, process, declaration.declared);
  }

  #hand(job: Job, host: JobHost, declared?: Readonly<Record<string, string>>): void {
    this.#busy.set(host, job);
    // Messages wait in the worker's queue until it is ready.
    const call = job.called?.call;
    this.#tell(host, {
      kind: "run",
      load: pack(job.load),
      ...declared && { declared },
      ...call && { call },
      ...job.resumed && { resumed: true },
    });
  }

  /** Moves a job that has not begun to a worker with its permissions, or to a process. */
  #move(worker: JobHost, permissions: Permissions): void {
    const job = this.#busy.get(worker);
    if (job === undefined || job.killed) return;
    const allowed = { permissions, key: permissionKey(permissions) };
    this.#busy.delete(worker);
    this.#shelve(worker);
    if (job.ended !== undefined) return job.done.resolve(failure(`The job was ended by signal ${job.ended}`));
    if (this.#custom.concerns(functionNames(job.load))) return this.#giveProcess(job, permissions);
    this.#declared.set(functionsOf(job.load), allowed);
    this.#give(job, allowed);
  }

  /** The running jobs. */
  /** The jobs that run now, as `saltutil.running` shows them. */
  running(): RunningJob[] {
    return this.#jobs().map(([host, { jid, load: published }]) => {
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
        pid: host.pid ?? host.commands().at(0) ?? null,
      };
    });
  }

  /**
   * Sends a signal to job `jid`: to the process groups of its commands. SIGTERM and SIGINT also tell the job itself to
   * end; SIGKILL ends it at once.
   * @returns Whether the job was running.
   */
  signal(jid: string, signal: number): boolean {
    // A function that another one calls belongs to the same job.
    const hosts = [...this.#busy].filter(([, job]) => job.jid === jid);
    for (const [host, job] of hosts) {
      if (signal === SIGKILL) {
        void this.#kill(host, signal);
        continue;
      }
      for (const pid of host.commands()) sendSignal(-pid, signal);
      if (signal !== SIGTERM && signal !== SIGINT) continue;
      job.ended = signal;
      this.#tell(host, { kind: "abort", signal });
      const timer = setTimeout(
        () => void (this.#busy.get(host) === job && this.#kill(host, signal)),
        this.#options.termMs ?? TERM_MS,
      );
      void job.done.promise.then(() => clearTimeout(timer));
    }
    return hosts.length > 0;
  }

  /** Sets grains and pillar for jobs from now on. */
  setHostData(hostData: HostData): void {
    this.#hostData = hostData;
    for (const host of this.#hosts()) this.#tell(host, { kind: "host_data", hostData });
  }

  /** Makes new workers load modules again: a loaded module stays in its thread. */
  async reload(): Promise<void> {
    for (const host of this.#busy.keys()) this.#stale.add(host);
    this.#declared.clear();
    this.#custom = this.#findCustom();
    this.#described = undefined;
    const old = [...this.#idle.clear(), ...this.#warmProcesses.clear()];
    this.#warm();
    await Promise.all(old.map((host) => host.stop()));
  }

  /** All busy and waiting workers and processes. */
  #hosts(): JobHost[] {
    return [...this.#idle.all, ...this.#warmProcesses.all, ...this.#busy.keys()];
  }

  /** What each worker or process is doing, one line each. */
  async describe(): Promise<string[]> {
    return await Promise.all(this.#hosts().map(async (host) => `${host.name}: ${await host.describe()}`));
  }

  /** Ends every job, with an outcome that says so, and every worker; those that are not gone when `budget` is over are named in the log. */
  async close(budget = new TimeBudget(CLOSE_MS)): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#spareTimer);
    const children: number[] = [];
    const left = new Set<string>();
    const ends: Promise<void>[] = [];
    const end = (name: string, ending: Promise<unknown>) => {
      left.add(name);
      ends.push(ending.then(() => void left.delete(name)));
    };
    for (const host of [...this.#busy.keys()]) {
      end(host.name, host.kill()); // from now on it starts nothing
      // Commands that go on without this minion; the next one returns what becomes of the job.
      const goesOn = host.hasKept && this.#busy.get(host)?.ended === undefined;
      if (!goesOn) children.push(...host.commands());
      this.#finish(host, goesOn ? LEFT : interruptedReturn("running"), false);
    }
    for (const pid of children) sendSignal(-pid, SIGTERM);
    for (const host of [...this.#idle.clear(), ...this.#warmProcesses.clear()]) end(host.name, host.stop());
    end("commands of jobs", killUnlessEnded(children, budget));
    if (await budget.allows(Promise.all(ends))) return;
    this.#options.log.warning(`Did not end in time, and are left to the end of the process: ${[...left].join(", ")}`);
  }

  async #kill(host: JobHost, signal: number): Promise<void> {
    const job = this.#busy.get(host);
    if (job === undefined || job.killed) return;
    job.killed = true;
    const ending = host.kill();
    for (const pid of host.commands()) sendSignal(-pid, SIGKILL);
    if (await ending) return this.#finish(host, failure(`The job was ended by signal ${signal}`), false);
    // The runtime cannot end a thread that never waits; no built-in function is known to be one.
    const goesOn = host instanceof ModuleProcess
      ? `its process ${host.pid} is not gone yet`
      : "its thread goes on: it takes a processor until the minion is restarted";
    const text = `The job was ended by signal ${signal}, and ${goesOn}`;
    this.#options.log.critical(`Job ${job.jid}: ${text} (${++this.#stuckThreads} such)`);
    this.#finish(host, failure(text), false);
  }

  #warm(): void {
    if (this.#options.customOnly || this.#closed || this.#idle.hasFree) return;
    this.#idle.add(this.#start(NOTHING), NOTHING.key);
  }

  /** The Deno permissions for `permissions`. @throws {TypeError} If they are invalid. */
  #denoPermissions(permissions: Permissions): Deno.PermissionOptions {
    const { extension_modules, module_dirs } = this.#opts;
    const modules = moduleDirectories({ extensionModules: extension_modules, moduleDirs: module_dirs });
    return workerPermissions(permissions, { opts: this.#opts, modules });
  }

  /** @throws {TypeError} If the permissions are invalid. */
  #start(allowed: Allowed): JobHost {
    const thread: JobThread = new JobThread({
      name: `Job-${this.#started++}`,
      url: this.#options.threadUrl,
      init: {
        opts: this.#options.opts,
        hostData: this.#hostData,
        permissions: allowed.permissions,
        customModules: this.#custom.names,
        refusedModules: Object.fromEntries(this.#custom.refusals),
      },
      permissions: this.#denoPermissions(allowed.permissions),
      log: this.#options.log,
      onDeath: (reason) => this.#died(thread, `The job's worker died: ${reason}`),
      onMessage: (message) => this.#hear(thread, message),
    });
    this.#allowed.set(thread, allowed);
    return thread;
  }

  /** @throws {TypeError} If the permissions are invalid. */
  #startProcess(
    modules: readonly string[],
    permissions: Permissions,
    options: { readonly silent: boolean },
  ): ModuleProcess {
    const process: ModuleProcess = new ModuleProcess({
      name: `Job-${this.#started++}`,
      init: {
        opts: this.#options.opts,
        hostData: this.#hostData,
        modules,
        renamed: this.#custom.renamed,
        logLevel: this.#options.log.least,
        logFailures: !this.#options.customOnly,
      },
      permissions: this.#denoPermissions(permissions),
      memory: this.#opts.custom_module_memory,
      log: this.#options.log,
      silent: options.silent,
      onEnd: (text) => this.#died(process, text),
      onMessage: (message) => this.#hear(process, message),
    });
    this.#allowed.set(process, { permissions, key: permissionKey(permissions) });
    return process;
  }

  #died(host: JobHost, text: string): void {
    this.#warmProcesses.remove(host as ModuleProcess);
    const job = this.#busy.get(host);
    const hidden = job !== undefined && isNoLog(job.load);
    this.#options.log.error(`${host.name}: ${hidden ? `died with job ${job.jid}, which is no_log` : text}`);
    for (const pid of host.commands()) sendSignal(-pid, SIGTERM);
    this.#finish(host, failure(text), false);
  }

  /**
   * Describes the functions of the custom modules (`describeFunctions`). They are loaded in one process without
   * permissions that does nothing else.
   */
  describeCustom(): Promise<Value> {
    return this.#described ??= this.#describeCustom();
  }

  async #describeCustom(): Promise<Value> {
    const answer = Promise.withResolvers<Value>();
    const none = (why: string) =>
      answer.resolve(map({ functions: [], problems: new Map(this.#custom.names.map((name) => [name, why])) }));
    const process = new ModuleProcess({
      name: "Modules",
      init: {
        opts: this.#options.opts,
        hostData: this.#hostData,
        modules: [],
        renamed: this.#custom.renamed,
        logLevel: this.#options.log.least,
        logFailures: true,
      },
      permissions: this.#denoPermissions("none"),
      memory: this.#opts.custom_module_memory,
      log: this.#options.log,
      onEnd: none,
      onMessage: (message) => message.kind === "done" && answer.resolve(unpackOutcome(message.outcome)),
    });
    const timer = setTimeout(() => none(`the custom modules were not loaded in ${DESCRIBE_MS} ms`), DESCRIBE_MS);
    process.tell({ kind: "describe" });
    try {
      return await answer.promise;
    } finally {
      clearTimeout(timer);
      await process.kill();
    }
  }

  /** Calls a function of a custom module for a function that runs in a thread. @returns Its outcome. */
  async #call(host: JobHost, fun: string, call: Uint8Array): Promise<Value> {
    const job = this.#busy.get(host);
    if (job === undefined) throw new Error("there is no job that calls");
    const load = new Map(job.load).set("fun", fun).set("arg", []).set("ret", "");
    return await this.#run(load, { onOutput: job.onOutput, resumed: false, called: { call, by: host } });
  }

  #tell(host: JobHost, message: ToJob): void {
    host.tell(message);
  }

  #hear(host: JobHost, message: FromJob | FromModule): void {
    switch (message.kind) {
      case "done": {
        const job = this.#busy.get(host);
        if (job === undefined || job.killed) return;
        const outcome = unpackOutcome(message.outcome);
        const tellsError = this.#options.customOnly || job.called !== undefined;
        return this.#finish(
          host,
          isMap(outcome)
            ? plainOutcome(outcome, [...tellsError ? ["error"] : [], ...job.resumed ? ["interrupted"] : []])
            : failure("There is no outcome"),
          true,
        );
      }
      case "output":
        return this.#busy.get(host)?.onOutput(message.written);
      case "not_permitted":
        return this.#move(host, message.permissions);
      case "ask":
        return void this.#answer(host, message.id, message.asked);
    }
  }

  async #answer(host: JobHost, id: number, asked: Asked): Promise<void> {
    try {
      const value = await this.#valueFor(host, asked);
      this.#tell(host, { kind: "answer", id, value: pack(value) });
    } catch (error) {
      const timeout = error instanceof RequestTimeoutError
        ? { address: error.address, waitedMs: error.waitedMs }
        : undefined;
      this.#tell(host, { kind: "refused", id, reason: messageOf(error), timeout });
    }
  }

  async #valueFor(host: JobHost, asked: Asked): Promise<Value> {
    switch (asked.what) {
      case "running":
        return this.#options.customOnly ? await this.#options.answer(asked) : toValue(this.running());
      case "signal":
        if (host instanceof ModuleProcess && !mayStartAnything(this.#allowed.get(host)?.permissions ?? "none")) {
          throw new Error('a function that signals jobs declares the permission "all" or { run: true }');
        }
        return this.#options.customOnly ? await this.#options.answer(asked) : this.signal(asked.jid, asked.signal);
      case "describe":
        return await this.describeCustom();
      case "call":
        return await this.#call(host, asked.fun, asked.call);
      default:
        return await this.#options.answer(asked);
    }
  }

  #finish(host: JobHost, outcome: ValueMap, alive: boolean): void {
    const job = this.#busy.get(host);
    this.#busy.delete(host);
    this.#idle.remove(host);
    if (alive) this.#shelve(host);
    // Calls that it did not wait for are of no use to anybody.
    for (const [other, called] of this.#busy) if (called.called?.by === host) void this.#kill(other, SIGKILL);
    job?.done.resolve(outcome);
  }

  /** Keeps a worker for the next job, unless it is outdated or not needed. */
  #shelve(host: JobHost): void {
    const key = this.#processKeys.get(host);
    if (this.#closed || this.#stale.has(host)) void host.stop();
    else if (!(host instanceof ModuleProcess)) this.#idle.put(host, this.#allowed.get(host)?.key ?? "");
    else if (key !== undefined) this.#warmProcesses.put(host, key);
    else void host.stop();
  }
}

/** The functions of a job. */
function functionNames(load: ValueMap): string[] {
  const fun = load.get("fun") ?? null;
  return (Array.isArray(fun) ? fun : [fun]).map(str);
}

/** An outcome with only the known fields. */
function plainOutcome(told: ValueMap, more: readonly string[]): ValueMap {
  const fields = ["return", "retcode", "success", "out", ...more];
  return new Map(
    fields.flatMap((field): [string, Value][] => told.has(field) ? [[field, told.get(field) ?? null]] : []),
  );
}

/** The outcome for a declaration that Deno refuses, such as a path of an unknown option or an invalid host. */
function notGiven(error: unknown): ValueMap {
  return failure(`The permissions that the function declares cannot be given: ${messageOf(error)}`);
}

/** The functions of a job, joined. */
function functionsOf(load: ValueMap): string {
  return JSON.stringify(load.get("fun") ?? null);
}

/** Waits a short time for process groups to end, and kills those that do not. */
async function killUnlessEnded(pids: readonly number[], budget: TimeBudget): Promise<void> {
  const grace = new TimeBudget(Math.min(GRACE_MS, budget.leftMs / 2));
  while (pids.some((pid) => sendSignal(-pid, 0)) && grace.leftMs > 0) await sleep(20);
  for (const pid of pids) sendSignal(-pid, SIGKILL);
}

function failure(text: string): ValueMap {
  return map({ return: text, retcode: 1, success: false, out: "nested" });
}
