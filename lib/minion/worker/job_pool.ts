/**
 * Runs a minion's jobs, each in its own worker, or in its own process if it belongs to a custom module. A started
 * worker waits for the next job, so `test.ping` has no start-up cost. Jobs can be signalled and killed.
 *
 * The main thread loads no modules, so a job goes to a worker without permissions first; that worker reports the
 * permissions that the job's functions declare, which are then cached. The process of a custom module may serve the
 * same module with the same permissions again for a while, but no other job after a `no_log` job.
 * @module
 */

import type { RunningJob } from "#lib/plugins/job_context.ts";
import type { JobHost } from "./job_host.ts";
import { JobHosts, type JobHostsOptions } from "./job_hosts.ts";
import { type HostData, type MinionRequest, pack } from "./job_protocol.ts";
import { JobRelay } from "./job_relay.ts";
import { messageOf } from "#lib/errors.ts";
import { sendSignal } from "#lib/libc/libc.ts";
import type { PythonPlugins } from "#lib/python_bridge/loader/python_files.ts";
import type { WrittenOutput } from "./live_output.ts";
import { interruptedReturn } from "./interrupted.ts";
import { GivenHostData } from "./given_host_data.ts";
import { LastEnds } from "./last_ends.ts";
import { IdleWorkers } from "./idle_workers.ts";
import { unpackModuleOutcome } from "./module_messages.ts";
import { failure, permissionsRefused, plainOutcome } from "./outcomes.ts";
import { ModuleProcess } from "./module_process.ts";
import { asNoted, isNoLog } from "#lib/protocol/no_log.ts";
import { joinPermissions, permissionKey, type Permissions } from "#lib/plugins/permissions.ts";
import { CLOSE_MS, TimeBudget } from "#lib/os/time_budget.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { LONGEST_TURN_MS, WaitingJobs } from "./waiting_jobs.ts";
import { WarmProcesses } from "./warm_processes.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";
import { asList } from "#lib/values/shape.ts";

/** Time after SIGTERM in which a job may end before its worker is killed, in milliseconds. */
const TERM_MS = 5_000;

/**
 * A job that lasts longer makes the pool start another worker for the next one, in milliseconds. Most jobs are shorter,
 * so a minion with one job at a time has one worker, which takes 8 MB less than two.
 */
const SPARE_MS = 50;

/**
 * Maximum number of times that a job is sent on before it begins: by the worker without permissions, and by one whose
 * permissions are those of an earlier state of the modules.
 */
const MAX_MOVES = 2;

const SIGKILL = 9;
const SIGTERM = 15;
const SIGINT = 2;

/** Options of a {@linkcode JobPool}. */
export interface JobPoolOptions extends JobHostsOptions {
  /**
   * Answers requests of jobs to the minion, except `running` and `signal`, which the pool answers itself.
   * @param load The job's; `undefined` if it has just ended.
   */
  answer(request: MinionRequest, load?: ValueMap): Promise<Value>;
  /** Grains and pillar for a job, where they depend on its master. Default: those that the pool has. */
  hostDataOf?(load: ValueMap): HostData | undefined;
  /** Time for a job to end after its signal, before its worker is killed, in milliseconds. Default: 5,000. */
  readonly termMs?: number;
  /** Whether the pool runs only custom modules, and outcomes contain the thrown error (`error`); for `salt-call`. */
  readonly customOnly?: boolean;
}

interface Job {
  readonly jid: string;
  readonly load: ValueMap;
  readonly done: PromiseWithResolvers<ValueMap>;
  /** Whether an earlier minion began it, and commands of it continued. */
  readonly resumed: boolean;
  readonly onOutput: (written: WrittenOutput) => void;
  /** For a function called by another one: its arguments, packed, and the calling host. */
  readonly called?: { readonly call: Uint8Array; readonly by?: JobHost };
  /** The signal that was sent to end it. */
  ended?: number;
  /** How often a worker has sent it to another one, before it began. */
  moves?: number;
  /** Whether its host was killed. */
  killed?: boolean;
  /** When a host got it, by `performance.now()`. */
  begunMs?: number;
}

/**
 * The outcome of a job that this minion leaves to the next one, because the minion ends and the job's command
 * continues.
 */
export const LEFT_TO_NEXT_MINION: ValueMap = new Map();

/** Starts, reuses and ends the workers that run jobs. */
export class JobPool {
  readonly #options: JobPoolOptions;
  readonly #idle = new IdleWorkers<JobHost>();
  readonly #warmProcesses = new WarmProcesses<ModuleProcess>();
  readonly #busy = new Map<JobHost, Job>();
  /** Workers with outdated modules; they end after their job. */
  readonly #stale = new WeakSet<JobHost>();
  /** The key under which a process waits after its job, if it may be used again. */
  readonly #processKeys = new WeakMap<JobHost, string>();
  /** The permissions of functions so far, by their names in a load. */
  readonly #declared = new Map<string, Permissions>();
  readonly #hosts: JobHosts;
  readonly #hostData: GivenHostData;
  /** Number of killed threads that never ended. */
  #stuckThreads = 0;
  #spareTimer: Timer | undefined;
  readonly #waiting = new WaitingJobs<Job>((job, permissions) => this.#startFor(job, permissions));
  #closed = false;

  /** Starts the first worker. */
  constructor(options: JobPoolOptions) {
    this.#options = options;
    const relay = new JobRelay({
      done: (host, outcome) => this.#done(host, outcome),
      output: (host, written) => this.#busy.get(host)?.onOutput(written),
      move: (host, permissions) => this.#move(host, permissions),
      call: (host, fun, call) => this.#call(host, fun, call),
      running: () => this.running(),
      signal: (jid, signal) => this.signal(jid, signal),
      describeCustom: () => this.#hosts.describeCustom(),
      permissionsOf: (host) => this.#hosts.permissionsOf(host),
      answer: (host, request) => options.answer(request, this.#busy.get(host)?.load),
      customOnly: options.customOnly ?? false,
    });
    this.#hosts = new JobHosts(options, {
      onDeath: (host, text) => this.#died(host, text),
      onMessage: (host, message) => relay.receive(host, message),
    });
    this.#hostData = new GivenHostData(this.#hosts, options.hostDataOf);
    this.#warm();
  }

  /** The names of the operator's own modules: an execution module's as it is, a returner's `returners/NAME`. */
  get customModules(): readonly string[] {
    return this.#hosts.custom.names;
  }

  /** The plugins in Python, as they were found last. */
  get pythonPlugins(): PythonPlugins {
    return this.#hosts.python;
  }

  /** Number of running jobs. */
  get size(): number {
    return this.#jobs().length;
  }

  /** The jobs, without calls of functions by other functions; those that wait for a worker have no host. */
  #jobs(): [JobHost | undefined, Job][] {
    const waiting = this.#waiting.all.map((job): [undefined, Job] => [undefined, job]);
    return [...this.#busy, ...waiting].filter(([, job]) => job.called === undefined);
  }

  /**
   * Runs the job in `load`.
   * @param onOutput Called with its commands' output, if the load asks for it (`live`).
   * @param options.resumed Whether an earlier minion began the job, and its commands continued. Default: false.
   * @returns Its outcome: `return`, `retcode`, `success`, maybe `out`; or {@linkcode LEFT_TO_NEXT_MINION}. Never
   * rejects.
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
    if (!this.#hosts.custom.concerns(funs)) this.#give(job, this.#declared.get(functionsOf(load)) ?? "none");
    // For a mixed job, a worker must report the permissions of the built-in functions.
    else if (funs.every((fun) => this.#hosts.custom.concerns([fun]))) this.#giveProcess(job, "none");
    else this.#give(job, "none");
    return job.done.promise;
  }

  /** Gives a job to a worker with exactly these permissions: an idle one, one that may soon be idle, or a new one. */
  #give(job: Job, permissions: Permissions): void {
    const key = permissionKey(permissions);
    const idle = this.#idle.take(key);
    if (idle !== undefined) this.#hand(job, idle);
    else if (this.#hasYoungJob(key, LONGEST_TURN_MS)) this.#waiting.add(job, permissions);
    else this.#startFor(job, permissions);
    this.#spareTimer ??= setTimeout(() => this.#spare(), SPARE_MS);
  }

  #startFor(job: Job, permissions: Permissions): void {
    try {
      this.#hand(job, this.#hosts.startThread(permissions));
    } catch (error) {
      job.done.resolve(permissionsRefused(error));
    }
  }

  /** Whether a worker with these permissions got its job so short a time ago. */
  #hasYoungJob(key: string, ms: number): boolean {
    const now = performance.now();
    return [...this.#busy].some(([host, { begunMs = now }]) =>
      now - begunMs < ms && !(host instanceof ModuleProcess) && permissionKey(this.#hosts.permissionsOf(host)) === key
    );
  }

  /** Sees to it that a worker waits, unless one is going to in a moment. */
  #spare(): void {
    this.#spareTimer = undefined;
    if (this.#closed) return;
    if (this.#hasYoungJob(permissionKey("none"), SPARE_MS)) {
      this.#spareTimer = setTimeout(() => this.#spare(), SPARE_MS);
    } else this.#warm();
  }

  /**
   * Gives a job to a process of its custom modules.
   * @param others The permissions of its other functions.
   */
  #giveProcess(job: Job, others: Permissions): void {
    const funs = functionNames(job.load);
    let declaration;
    try {
      declaration = this.#hosts.custom.declaration(funs);
    } catch (error) {
      return job.done.resolve(failure(`ERROR executing '${funs.join(",")}': ${messageOf(error)}`));
    }
    // A function that another one calls has the caller's permissions.
    const caller = job.called?.by;
    const permissions = caller === undefined
      ? joinPermissions([declaration.permissions, others])
      : this.#hosts.permissionsOf(caller);
    const key = `${declaration.modules.join(" ")} ${permissionKey(permissions)}`;
    const noLog = isNoLog(job.load);
    let process = noLog ? undefined : this.#warmProcesses.take(key);
    try {
      process ??= this.#hosts.startProcess(declaration.modules, permissions, { silent: noLog });
    } catch (error) {
      return job.done.resolve(permissionsRefused(error));
    }
    // A process that had the arguments of a `no_log` job gets no other job.
    if (!noLog) this.#processKeys.set(process, key);
    process.begin(`running ${funs.join(",")} for job ${job.jid}`);
    this.#hand(job, process, declaration.declared);
  }

  #hand(job: Job, host: JobHost, declared?: Readonly<Record<string, string>>): void {
    job.begunMs = performance.now();
    this.#busy.set(host, job);
    this.#hostData.sendFor(job.load, host);
    // Messages wait in the worker's queue until it is ready.
    const call = job.called?.call;
    host.send({
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
    this.#busy.delete(worker);
    this.#shelve(worker);
    if (job.ended !== undefined) return job.done.resolve(failure(`The job was ended by signal ${job.ended}`));
    job.moves = (job.moves ?? 0) + 1;
    if (job.moves > MAX_MOVES) {
      return job.done.resolve(
        failure(`No worker runs ${functionNames(job.load).join(",")}: each sends it to another one`),
      );
    }
    if (this.#hosts.custom.concerns(functionNames(job.load))) return this.#giveProcess(job, permissions);
    this.#declared.set(functionsOf(job.load), permissions);
    this.#give(job, permissions);
  }

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
        pid: host?.pid ?? host?.commands().at(0) ?? null,
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
    const ends = signal === SIGKILL || signal === SIGTERM || signal === SIGINT;
    const waiting = ends
      ? this.#waiting.remove((job) => job.jid === jid)
      : this.#waiting.all.filter((job) => job.jid === jid);
    if (ends) { for (const job of waiting) job.done.resolve(failure(`The job was ended by signal ${signal}`)); }
    for (const [host, job] of hosts) {
      if (signal === SIGKILL) {
        void this.#kill(host, signal);
        continue;
      }
      for (const pid of host.commands()) sendSignal(-pid, signal);
      if (signal !== SIGTERM && signal !== SIGINT) continue;
      job.ended = signal;
      host.send({ kind: "abort", signal });
      const timer = setTimeout(
        () => void (this.#busy.get(host) === job && this.#kill(host, signal)),
        this.#options.termMs ?? TERM_MS,
      );
      void job.done.promise.then(() => clearTimeout(timer));
    }
    return hosts.length + waiting.length > 0;
  }

  /** Sets grains and pillar for jobs from now on. */
  setHostData(hostData: HostData): void {
    this.#hostData.set(hostData, this.#all());
  }

  /** Makes new workers load modules again: a loaded module stays in its thread. */
  async reload(): Promise<void> {
    for (const host of this.#busy.keys()) this.#stale.add(host);
    this.#declared.clear();
    this.#hosts.findCustom();
    const old = [...this.#idle.clear(), ...this.#warmProcesses.clear()];
    this.#warm();
    await Promise.all(old.map((host) => host.stop()));
  }

  /** All busy and waiting workers and processes. */
  #all(): JobHost[] {
    return [...this.#idle.all, ...this.#warmProcesses.all, ...this.#busy.keys()];
  }

  /** The current activity of each worker or process, one line each. */
  async describe(): Promise<string[]> {
    return await Promise.all(this.#all().map(async (host) => `${host.name}: ${await host.describe()}`));
  }

  /**
   * Ends every job, with an outcome that says so, and every worker. The log names those that are still running when
   * `budget` is over.
   */
  async close(budget = new TimeBudget(CLOSE_MS)): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#spareTimer);
    for (const job of this.#waiting.clear()) job.done.resolve(interruptedReturn("queued"));
    const children: number[] = [];
    const ends = new LastEnds();
    for (const host of [...this.#busy.keys()]) {
      ends.add(host.name, host.kill()); // from now on it starts nothing
      // Commands that continue without this minion; the next minion returns their jobs.
      const goesOn = host.hasKeeperCommands && this.#busy.get(host)?.ended === undefined;
      if (!goesOn) children.push(...host.commands());
      this.#finish(host, goesOn ? LEFT_TO_NEXT_MINION : interruptedReturn("running"), false);
    }
    for (const host of [...this.#idle.clear(), ...this.#warmProcesses.clear()]) ends.add(host.name, host.stop());
    ends.endCommands(children, budget);
    const left = await ends.wait(budget);
    if (left.length === 0) return;
    this.#options.log.warning(`Did not end in time, and are left to the end of the process: ${left.join(", ")}`);
  }

  async #kill(host: JobHost, signal: number): Promise<void> {
    const job = this.#busy.get(host);
    if (job === undefined || job.killed) return;
    job.killed = true;
    const ending = host.kill();
    for (const pid of host.commands()) sendSignal(-pid, SIGKILL);
    if (await ending) return this.#finish(host, failure(`The job was ended by signal ${signal}`), false);
    // The runtime cannot end a thread that neither waits nor counts its steps (stop_word.ts); no built-in function is
    // known to be one.
    const goesOn = host instanceof ModuleProcess
      ? `its process ${host.pid} has not ended yet`
      : "its thread continues: it uses a processor until the minion is restarted";
    const text = `The job was ended by signal ${signal}, and ${goesOn}`;
    this.#options.log.critical(`Job ${job.jid}: ${text} (${++this.#stuckThreads} such)`);
    this.#finish(host, failure(text), false);
  }

  #warm(): void {
    if (this.#options.customOnly || this.#closed || this.#idle.hasFree) return;
    this.#idle.add(this.#hosts.startThread("none"), permissionKey("none"));
  }

  #died(host: JobHost, text: string): void {
    this.#warmProcesses.remove(host as ModuleProcess);
    const job = this.#busy.get(host);
    const hidden = job !== undefined && isNoLog(job.load);
    this.#options.log.error(`${host.name}: ${hidden ? `died with job ${job.jid}, which is no_log` : text}`);
    for (const pid of host.commands()) sendSignal(-pid, SIGTERM);
    this.#finish(host, failure(text), false);
  }

  /** Describes the functions of the custom modules (`describeFunctions`). */
  describeCustom(): Promise<Value> {
    return this.#hosts.describeCustom();
  }

  /**
   * Calls a function of a custom module for a function that runs in `by`.
   * @returns Its outcome.
   */
  async #call(by: JobHost, fun: string, call: Uint8Array): Promise<Value> {
    const job = this.#busy.get(by);
    if (job === undefined) throw new Error("there is no job that calls");
    const load = new Map(job.load).set("fun", fun).set("arg", []).set("ret", "");
    return await this.#run(load, { onOutput: job.onOutput, resumed: false, called: { call, by } });
  }

  #done(host: JobHost, packed: Uint8Array): void {
    const job = this.#busy.get(host);
    if (job === undefined || job.killed) return;
    const outcome = unpackModuleOutcome(packed);
    const tellsError = this.#options.customOnly || job.called !== undefined;
    this.#finish(
      host,
      isMap(outcome)
        ? plainOutcome(outcome, [...tellsError ? ["error"] : [], ...job.resumed ? ["interrupted"] : []])
        : failure("There is no outcome"),
      true,
    );
  }

  #finish(host: JobHost, outcome: ValueMap, alive: boolean): void {
    const job = this.#busy.get(host);
    this.#busy.delete(host);
    this.#idle.remove(host);
    if (alive) this.#shelve(host);
    // Calls whose caller has ended are not needed any more.
    for (const [other, called] of this.#busy) if (called.called?.by === host) void this.#kill(other, SIGKILL);
    job?.done.resolve(outcome);
  }

  /** Keeps a worker for the next job, unless it is outdated or not needed. */
  #shelve(host: JobHost): void {
    const key = this.#processKeys.get(host);
    if (this.#closed || this.#stale.has(host)) void host.stop();
    else if (!(host instanceof ModuleProcess)) this.#serve(host, permissionKey(this.#hosts.permissionsOf(host)));
    else if (key !== undefined) this.#warmProcesses.put(host, key);
    else void host.stop();
  }

  /** Gives a worker the oldest job that waits for one like it, or keeps it. */
  #serve(host: JobHost, key: string): void {
    const job = this.#waiting.take(key);
    if (job === undefined) this.#idle.put(host, key);
    else this.#hand(job, host);
  }
}

/** The functions of a job. */
function functionNames(load: ValueMap): string[] {
  const fun = load.get("fun") ?? null;
  return asList(fun).map(str);
}

/** The functions of a job, joined. */
function functionsOf(load: ValueMap): string {
  return JSON.stringify(load.get("fun") ?? null);
}
