/**
 * The minion: signs in, receives jobs, runs them, and sends their returns.
 *
 * Its main thread only moves messages; jobs run in workers, returns wait on disk until the master has them.
 * Source: docs/architecture.md "The minion"; docs/protocol.md "A minion from nothing".
 * @module
 */

import type { Answering } from "#lib/bus/ask.ts";
import { BusPump } from "#lib/bus/pump.ts";
import { CommandError, messageOf, SignInError } from "#lib/errors.ts";
import { stamp } from "#lib/bus/event.ts";
import { KEY_ROTATED, PILLAR_REFRESHED, ROTATE_KEY } from "#lib/protocol/tags.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { minionBus, pythonMinionBus } from "#lib/bus/paths.ts";
import { type EngineSupervisor, startEngines } from "#lib/engines/supervisor.ts";
import { ENGINE_PROCESS, ownProcess } from "#lib/runtime/self_command.ts";
import { JidMemory } from "#lib/minion/masters/jid_memory.ts";
import { JobPool } from "#lib/minion/worker/job_pool.ts";
import type { Journal } from "#lib/os/journal.ts";
import { PythonZygote } from "#lib/python_bridge/zygote/zygote.ts";
import { KeeperProcess } from "#lib/minion/keeper/keeper_process.ts";
import { KeptReturns } from "#lib/jobs/kept_returns.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { handleLocalEvent } from "./events.ts";
import { type AnsweringMinion, answerJob } from "./job_answers.ts";
import { JobReturners } from "./job_returners.ts";
import { MinionJobs } from "./jobs.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { GrainsAndPillar } from "./grains_and_pillar.ts";
import { MasterEvents } from "./master_events.ts";
import { compilesOwnPillar } from "./own_pillar.ts";
import { packOpts } from "#lib/config/opts_transfer.ts";
import { ProcFiles } from "#lib/minion/worker/proc_files.ts";
import { sleep } from "#lib/os/sleep.ts";
import { ServedMasters } from "./served_masters.ts";
import { startupJob } from "./startup_states.ts";
import { CLOSE_MS, TimeBudget } from "#lib/os/time_budget.ts";
import { Triggers } from "./triggers.ts";
import { unsentReturns } from "#lib/minion/masters/unsent_returns.ts";
import { tracerOf } from "#lib/tracing/late_tracer.ts";
import type { Tracer } from "#lib/tracing/tracer.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { clearInterval, setInterval, type Timer } from "#lib/os/timers.ts";
import { changeOwnKey } from "./key_change.ts";
import { applicantOf } from "#lib/minion/masters/link_settings.ts";
import { minionJournal, restoreMinion } from "./journal.ts";
import { adoptReturns, spoolDirectory } from "#lib/minion/masters/spool_directories.ts";
import { findMasters } from "#lib/minion/masters/master_list.ts";
import { type ConnectionParts, MasterConnection } from "#lib/minion/masters/master_connection.ts";
import { connectedMasters, Masters } from "#lib/minion/masters/masters.ts";
import { isOneOfMany } from "#lib/config/master_entries.ts";
import type { JobChain } from "#lib/operators/job_chain.ts";
import type { OperatorCheck } from "#lib/operators/operator_check.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { OWN_JOB } from "#lib/protocol/own_job.ts";

/** Minimum number of job ids that are remembered, also over restarts. */
const MIN_JIDS = 1_000;
/**
 * The part of the time for ending that is reserved for the journal and the bus, and the part of that for the bus. In
 * milliseconds.
 */
const JOURNAL_END_MS = 2_000, BUS_END_MS = 100;
/** How long a keeper without commands may take to end, in milliseconds. One with commands stays. */
const KEEPER_END_MS = 200;

/** A running minion. */
export class Minion {
  readonly #opts: MinionOpts;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  readonly #closed = Promise.withResolvers<void>();
  #ending: Promise<void> | undefined;
  #masters: Masters | undefined;
  #jobs: MinionJobs | undefined;
  #tracer: Tracer | undefined;
  #returners: JobReturners | undefined;
  #kept: KeptReturns | undefined;
  #pool: JobPool | undefined;
  #keeper: KeeperProcess | undefined;
  #python: PythonZygote | undefined;
  #journal: Journal | undefined;
  #chain: JobChain | undefined;
  #bus: BusPump | undefined;
  #events: EventSubscriber | undefined;
  #engines: EngineSupervisor | undefined;
  #triggers: Triggers | undefined;
  /** Whether what begins with the first sign-in has begun. */
  #isServing = false;
  readonly #timers: Timer[] = [];
  readonly #known: GrainsAndPillar;
  readonly #sent: MasterEvents;
  readonly #served: ServedMasters;

  private constructor(opts: MinionOpts, log: Logger) {
    this.#opts = opts;
    this.#log = log;
    this.#known = new GrainsAndPillar({
      opts,
      log,
      masters: () => this.#masters,
      passHostData: (hostData) => this.#pool?.setHostData(hostData),
      passPillar: (pillar) => this.#triggers?.setPillar(pillar),
    });
    this.#sent = new MasterEvents({
      opts,
      log,
      closing: this.#closing.signal,
      masters: () => this.#masters,
      fail: (error, connection) => this.#served.fail(error, connection),
    });
    this.#served = new ServedMasters({
      opts,
      log,
      closing: this.#closing.signal,
      known: this.#known,
      sent: this.#sent,
      masters: () => this.#masters,
      serving: () => this.#beginServing(),
      end: (error) => this.#end(error),
    });
  }

  /** Resolves when the minion has ended; rejects with the error that ended it. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /**
   * Starts a minion whose directories exist; resolves when it serves its own bus. It signs in after that, until the
   * operator has accepted its key; {@linkcode closed} rejects if that is not possible.
   */
  static async start(opts: MinionOpts, log: Logger): Promise<Minion> {
    const minion = new Minion(opts, log);
    try {
      await minion.#open();
    } catch (error) {
      await minion.close();
      throw error;
    }
    void minion.#serve();
    return minion;
  }

  async #open(): Promise<void> {
    const opts = this.#opts;
    const paths = minionBus(opts);
    this.#bus = await BusPump.open(paths, { log: this.#log, python: pythonMinionBus(opts) });
    this.#events = await EventSubscriber.connect(paths.pub, [""]);
    await this.#known.loadGrains();
    const log = this.#log;
    this.#keeper = new KeeperProcess(opts, log);
    this.#python = new PythonZygote(opts, (line) => log.named("salt.modules").info(`A plugin printed: ${line}`));
    const packed = packOpts("minion", opts);
    const answering = this.#answering();
    const pool = this.#pool = new JobPool({
      opts: packed,
      hostData: this.#known.packed,
      log,
      answer: (request, load) => answerJob(request, load, answering),
      hostDataOf: (load) => this.#masters?.of(load).hostData,
    });
    const kept = this.#kept = new KeptReturns(opts.cachedir, log);
    const min = Math.max(opts.minion_jid_queue_hwm, MIN_JIDS), jidFile = `${opts.cachedir}/jids`;
    await restoreMinion(opts, () => new JidMemory({ min, path: jidFile, log }), log);
    const journal = this.#journal = minionJournal(opts, log);
    const isAlone = opts.master_type === "disable";
    const chain = this.#chain = opts.job_chain ?? opts.require_operator_signature !== "false"
      ? await openChain(opts, log)
      : undefined;
    const proc = new ProcFiles(opts.cachedir, journal);
    const jids = new JidMemory({ min, path: jidFile, log, journal });
    // The file of ids may be out of date: the process wrote it after the journal.
    for (const { load } of proc.left) jids.add(str(load.get("jid") ?? ""));
    const connected = isAlone ? undefined : await this.#openMasters(pool, { jids, journal, kept });
    const masters = this.#masters = connected?.masters;
    const returners = this.#returners = new JobReturners({ opts, pool, log });
    const tracer = this.#tracer = await tracerOf(opts.tracing, `salt-minion-${opts.id}`, log);
    const jobs = this.#jobs = new MinionJobs({
      opts,
      log,
      pool,
      returners,
      spool: masters?.returns ?? unsentReturns(log),
      proc,
      chain,
      journal: journal && { commit: async () => void await Promise.all([journal.commit(), chain?.sync()]) },
      fireMaster: (event, load) => this.#sent.fire(event, masters?.of(load)),
      fireLocal: (tag, data) => this.#fireLocal(tag, data),
      tracer,
      maxRequestBytes: (load) => masters?.of(load).maxRequestBytes,
      onStateRun: (running) => {
        if (this.#triggers !== undefined) this.#triggers.stateRun = running;
      },
    });
    this.#triggers = await Triggers.open({
      opts,
      log,
      pool,
      jobs,
      known: this.#known,
      pythonSocket: () => this.#pythonSocket(),
      fireLocal: (tag, data) => this.#fireLocal(tag, data),
      ...!isAlone && { send: (events: readonly ValueMap[]) => this.#sent.sendTogether(events) },
      questions: connected?.questions ?? [],
      fail: (error) => this.#end(error),
    });
    await jobs.returnLeft();
    await returners.flush();
    this.#engines = startEngines({
      role: "minion",
      engines: opts.engines,
      cachedir: opts.cachedir,
      log,
      opts: packed,
      command: ownProcess(ENGINE_PROCESS),
    });
    this.#handleEvents(this.#events).catch((error) => this.#end(error));
  }

  /**
   * What connects it to its masters.
   * @returns With the questions on the minion's bus that are about that.
   */
  async #openMasters(
    pool: JobPool,
    shared: Pick<ConnectionParts, "jids" | "journal" | "kept">,
  ): Promise<{ readonly masters: Masters; readonly questions: readonly Answering[] }> {
    const opts = this.#opts, log = this.#log, closing = this.#closing.signal;
    const entries = await findMasters(opts, { log, signal: closing, call: (fun) => this.#callOwn(pool, fun) });
    const applicant = await applicantOf(opts, this.#known.grains);
    const parts: ConnectionParts = {
      ...shared,
      opts,
      log,
      applicant,
      closing,
      grains: () => this.#known.grains,
      operators: await operatorCheck(opts, log),
      admit: (jid, load, { connection, signed }) => {
        this.#connected().mark(load, connection);
        this.#jobs?.admit(jid, load, signed);
      },
      refuse: (load, why, { connection, signed }) => {
        this.#connected().mark(load, connection);
        void this.#jobs?.refuse(load, why, signed);
      },
      take: (load) => this.#jobs?.take(load),
      onServing: (connection, why) => void this.#served.greet(connection, why),
      fireLocal: (tag, data) => this.#fireLocal(tag, data),
      siblings: () => masters.all,
      fail: (error, connection) => this.#served.fail(error, connection),
    };
    const isOneOfSeveral = entries.length > 1 && !isOneOfMany(opts);
    const lists = isOneOfMany(opts) ? [entries] : entries.map((entry) => [entry]);
    const used = lists.map(([entry]) => MasterConnection.spoolDirectory(opts, entry, isOneOfSeveral));
    await adoptReturns(spoolDirectory(opts), { used, to: used[0], log });
    const masters = new Masters(lists.map((list) => new MasterConnection(parts, list, { isOneOfSeveral })));
    const keyRotation: Answering = {
      tag: ROTATE_KEY,
      async answer() {
        const data = await changeOwnKey(applicant.pair, masters.connected, opts.hash_type);
        return { tag: KEY_ROTATED, data };
      },
      failed: () => KEY_ROTATED,
      report: (text) => log.error(text),
    };
    return { masters, questions: [keyRotation] };
  }

  /** `master_type: func`: calls an execution function of this minion. */
  async #callOwn(pool: JobPool, fun: string): Promise<Value> {
    const job = map({
      fun,
      arg: [],
      jid: makeJid(),
      ret: "",
      tgt: "",
      tgt_type: "glob",
      user: "root",
      [OWN_JOB]: true,
    });
    const outcome = await pool.run(job);
    if (outcome.get("success") === true) return outcome.get("return") ?? null;
    throw new SignInError(`Failed to load module ${fun}: ${str(outcome.get("return") ?? null)}`, 1);
  }

  async #serve(): Promise<void> {
    try {
      if (this.#masters === undefined) return await this.#serveAlone();
      await this.#spreadStart();
      await Promise.all(this.#masters.all.map((connection) => this.#served.serve(connection)));
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#end(error);
    }
  }

  /** What begins when the first master serves. */
  #beginServing(): void {
    if (this.#isServing) return;
    this.#isServing = true;
    this.#triggers?.startBeacons();
    this.#applyStartupStates();
    this.#startPings();
    if (!this.#closing.signal.aborted) this.#triggers?.startSchedule();
  }

  /** `master_type: disable`: nobody gives it jobs but itself. */
  async #serveAlone(): Promise<void> {
    this.#log.warning("Master is set to disable, skipping connection");
    if (compilesOwnPillar(this.#opts)) await this.#known.takeFirstPillar();
    this.#triggers?.startBeacons();
    if (this.#opts.file_client === "local") this.#applyStartupStates();
    else if (this.#opts.startup_states !== "") {
      this.#log.warning(
        "Cannot run startup_states when 'master_type' is set to 'disable' and 'file_client' is set to 'remote'. Skipping.",
      );
    }
    if (!this.#closing.signal.aborted) this.#triggers?.startSchedule();
  }

  /** Tells the master every `ping_interval` minutes that this minion is there. */
  #startPings(): void {
    const { ping_interval: minutes } = this.#opts;
    if (minutes === 0 || this.#closing.signal.aborted) return;
    const ping = () => void this.fireMaster(map({ data: "ping", tag: "minion_ping" }));
    this.#timers.push(setInterval(ping, minutes * 60_000));
  }

  /** `random_startup_delay`: after a power failure, the minions of a site do not all sign in at once. */
  async #spreadStart(): Promise<void> {
    const delayS = Math.random() * this.#opts.random_startup_delay;
    if (delayS === 0) return;
    this.#log.info(`Signing in after ${delayS.toFixed(1)} seconds (random_startup_delay)`);
    await sleep(delayS * 1000, this.#closing.signal);
  }

  #connected(): Masters {
    return connectedMasters(this.#masters);
  }

  #applyStartupStates(): void {
    const job = startupJob(this.#opts);
    if (job === undefined || this.#closing.signal.aborted) return;
    this.#log.info(`startup_states: ${str(job.get("fun") ?? null)}`);
    this.#jobs?.begin(job);
  }

  /**
   * Sends an event to every master that is connected: `tag` and `data`, or `events`.
   * @returns Whether a master accepted it. Never rejects.
   */
  async fireMaster(event: ValueMap): Promise<boolean> {
    return await this.#sent.fire(event, this.#masters);
  }

  async #handleEvents(events: EventSubscriber): Promise<void> {
    for (;;) {
      const event = await events.next();
      if (event === undefined) return;
      try {
        await handleLocalEvent(event, this);
      } catch (error) {
        if (!this.#closing.signal.aborted) this.#log.error(`The event ${event.tag} failed: ${messageOf(error)}`);
      }
    }
  }

  /** Loads modules again, for the jobs from now on. */
  async refreshModules(): Promise<void> {
    await this.#pool?.reload();
  }

  /** Loads beacons again, own ones from their files, and also those that were stopped because they hung. */
  async refreshBeacons(): Promise<void> {
    await this.#pool?.reload();
    await this.#triggers?.refreshBeacons();
  }

  /** Computes the grains again, sends them to the master with a pillar request, and loads modules again. */
  async refreshGrains(): Promise<void> {
    await this.#known.refreshGrains();
    await this.refreshModules();
  }

  /** Loads modules again, and requests the pillar, with the grains. The end is announced on the minion's bus. */
  async refreshPillar(cleanCache = true): Promise<void> {
    let complete = false;
    try {
      await this.refreshModules();
      await this.#known.refreshPillar({ cleanCache });
      complete = true;
    } finally {
      if (!this.#closing.signal.aborted) await this.#fireLocal(PILLAR_REFRESHED, map({ complete }));
    }
  }

  /** What its jobs are answered with. */
  #answering(): AnsweringMinion {
    return {
      opts: this.#opts,
      known: this.#known,
      refreshes: {
        modules: () => this.refreshModules(),
        grains: () => this.refreshGrains(),
        pillar: () => this.refreshPillar(),
      },
      masters: () => this.#masters,
      fireLocal: (tag, data) => this.#fireLocal(tag, data),
      pythonSocket: () => this.#pythonSocket(),
      keeperSocket: async () => await this.#keeper?.socket(),
    };
  }

  /** @throws {CommandError} If there is no Python. */
  async #pythonSocket(): Promise<string> {
    if (this.#python === undefined) throw new CommandError("the minion has not started");
    return await this.#python.socket();
  }

  async #fireLocal(tag: string, data: ValueMap): Promise<boolean> {
    using bus = new EventSender(minionBus(this.#opts).pull);
    return await bus.fire(tag, stamp(data));
  }

  /** The current activity of each thread, one line each. */
  async describeThreads(): Promise<string[]> {
    const masters = this.#masters;
    const state = masters === undefined
      ? "without a master"
      : `${masters.describe().join("; ")}; ${masters.waiting} returns wait`;
    return [
      `Main: ${state}`,
      ...this.#engines?.describe() ?? [],
      ...await this.#pool?.describe() ?? [],
      ...await this.#triggers?.describe() ?? [],
    ];
  }

  #end(error: unknown): void {
    void this.#shutDown().then(() => this.#closed.reject(error));
  }

  /**
   * Ends everything: signals jobs to end, and leaves returns in the spool. Steps that need more than `budget` are
   * aborted and logged. May be called more than once.
   */
  async close(budget?: TimeBudget): Promise<void> {
    await this.#shutDown(budget);
    this.#closed.resolve();
  }

  /** Both ways to end share it: the second waits for the first. */
  #shutDown(budget = new TimeBudget(CLOSE_MS)): Promise<void> {
    return this.#ending ??= this.#closeAll(budget);
  }

  async #closeAll(budget: TimeBudget): Promise<void> {
    this.#closing.abort(new Error("The minion ends"));
    for (const timer of this.#timers) clearInterval(timer);
    this.#masters?.close();
    this.#events?.close();
    await this.#triggers?.close(new TimeBudget(KEEPER_END_MS));
    await this.#masters?.closeSpools();
    await this.#returners?.close();
    this.#kept?.close();
    await this.#engines?.close(budget.less(JOURNAL_END_MS));
    await this.#known.close(new TimeBudget(KEEPER_END_MS));
    await this.#pool?.close(budget.less(JOURNAL_END_MS));
    await this.#tracer?.close(KEEPER_END_MS);
    await this.#python?.close();
    await this.#keeper?.close(new TimeBudget(KEEPER_END_MS));
    await this.#journal?.close(budget.less(BUS_END_MS));
    this.#chain?.close();
    await this.#bus?.close();
  }
}

/** The chain of the minion's jobs; its code is loaded for those who want one. */
async function openChain({ cachedir }: MinionOpts, log: Logger): Promise<JobChain> {
  const { JobChain } = await import("#lib/operators/job_chain.ts");
  return JobChain.open(cachedir, log);
}

/** The check of operators' signatures; its code is loaded for those who want one. */
async function operatorCheck(opts: MinionOpts, log: Logger): Promise<OperatorCheck | undefined> {
  if (opts.require_operator_signature === "false") return undefined;
  const { OperatorCheck } = await import("#lib/operators/operator_check.ts");
  return new OperatorCheck(opts, log);
}
