/**
 * The master: starts its sockets and threads, restarts threads that die, and stops everything. Its main thread passes
 * no messages: libzmq's proxies do, and the MWorkers do the work.
 * Source: docs/architecture.md "The master", docs/protocol.md "Ports and sockets".
 * @module
 */

import { writeFileAtomic } from "#lib/os/atomic_file.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { removePeersPresence } from "#lib/fleet/presence_file.ts";
import { describeError, messageOf, PreflightError } from "#lib/errors.ts";
import { stamp } from "#lib/bus/event.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { masterBus, removeSocketFile } from "#lib/bus/paths.ts";
import { MasterSchedule } from "#lib/master/functions/master_schedule.ts";
import type { EventReturnInit } from "#lib/master/event_return/event_return_thread.ts";
import { hasMasterReturners } from "#lib/master/event_return/has_returners.ts";
import { FlowReport } from "./flow_report.ts";
import { checkFlow, flowMemory } from "#lib/flow/open_flow.ts";
import { parseFunctionRequest } from "#lib/master/functions/messages.ts";
import { jidMemory, setJidOrigin } from "#lib/protocol/jid.ts";
import type { SupervisedThread } from "#lib/sockets/supervised_thread.ts";
import { undeliveredSecret } from "#lib/keys/master_rotation.ts";
import { loadOrCreateKeyPair, loadOrCreateMasterKey } from "#lib/keys/pair.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { Meter } from "#lib/tracing/meter.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import { checkBackends } from "#lib/config/backend_names.ts";
import { checkPillarRepositories } from "#lib/files/git/pillar_updates.ts";
import { type EngineSupervisor, startEngines } from "#lib/engines/supervisor.ts";
import { ENGINE_PROCESS, masterProcess } from "#lib/runtime/self_command.ts";
import { FileUpdates } from "./file_updates.ts";
import { openJobStore } from "#lib/stores/open_store.ts";
import { AdmittedUsers } from "./admitted_users.ts";
import { JobDatabase } from "./job_database.ts";
import { KeyRotation, settlePair } from "./key_rotation.ts";
import { RequestPort } from "./request_port.ts";
import { listening } from "./starting.ts";
import { Maintenance } from "./maintenance.ts";
import { MasterEventBus } from "./event_bus.ts";
import { MasterThreads } from "./master_threads.ts";
import { MWorkers } from "./mworkers.ts";
import { restoreFromJournal } from "./journal.ts";
import { portsPath, publishPullPath } from "#lib/config/master_paths.ts";
import type { StoreInit } from "#lib/stores/store_thread.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { BACKENDS } from "#modules/fileserver/_built_in.ts";
import { packOpts } from "#lib/config/opts_transfer.ts";
import { FiredReturns } from "#lib/jobs/fired_returns.ts";
import { VerifiedTokens } from "#lib/keys/verified_tokens.ts";
import { type MemoryMessage, parsePublisherReady } from "#lib/master/publisher/publisher_messages.ts";
import { PresenceRounds } from "#lib/master/publisher/presence_rounds.ts";
import type { PublisherInit } from "#lib/master/publisher/publisher_thread.ts";
import type { ReactorInit } from "./mworker_services.ts";
import type { ClusterInit } from "#lib/master/cluster/cluster_thread.ts";
import type { ClusterStart, MasterCluster } from "#lib/master/cluster/master_cluster.ts";
import { reactorOpts } from "#lib/reactor/reactor_opts.ts";
import { rateMemory } from "#lib/master/requests/rate_limit.ts";
import { SessionKeys } from "#lib/keys/sessions.ts";
import { SharedKey } from "#lib/keys/shared_key.ts";
import { signInMemory } from "#lib/master/requests/sign_in_turns.ts";
import { sleep } from "#lib/os/sleep.ts";
import { CLOSE_MS, TimeBudget } from "#lib/os/time_budget.ts";
import { truthy, type ValueMap } from "#lib/values/value.ts";
import { CpuTimeWatch } from "#lib/runtime/cpu_time_watch.ts";

/**
 * The part of the time for ending that is reserved for the last replies, the proxy and the bus, which end after the
 * other threads. In ms.
 */
const BUS_END_MS = 1_000;
/**
 * Time kept for MWorkers, in milliseconds: a function that does not heed SIGTERM is ended in time for the answer to its
 * client.
 */
const ANSWERS_MS = 1_500;
/**
 * Time for the last replies to get from the MWorkers' sockets to the network, in milliseconds; normally one is enough.
 * In steps, since a machine that is suspended may use up a whole step.
 */
const LAST_REPLIES_MS = [20, 20, 20, 20];
/** Time for the last metrics, in milliseconds. */
const LAST_METRICS_MS = 500;
/** A running master. */
export class Master {
  readonly #opts: MasterOpts;
  readonly #log: Logger;
  readonly #sharedKey = new SharedKey();
  readonly #threads: MasterThreads;
  readonly #bus: MasterEventBus;
  #publisher: SupervisedThread | undefined;
  /** Exports what belongs to no thread, if the option `metrics` asks for it. */
  #meter: Meter | undefined;
  #database: JobDatabase | undefined;
  /** Its part of a cluster, if it belongs to one. */
  #cluster: MasterCluster | undefined;
  /** Has the database of the cluster, and stops after the threads that use it. */
  #clusterThread: SupervisedThread | undefined;
  #workers: MWorkers | undefined;
  #requests: RequestPort | undefined;
  #memoryLooks: CpuTimeWatch | undefined;
  readonly #closed = Promise.withResolvers<void>();
  #maintenance: Maintenance | undefined;
  #engines: EngineSupervisor | undefined;
  #fileUpdates: FileUpdates | undefined;
  #schedule: MasterSchedule | undefined;
  #flowReport: FlowReport | undefined;
  #rotation: KeyRotation | undefined;
  #serving = false;
  #closing = false;

  private constructor(opts: MasterOpts, log: Logger) {
    this.#opts = opts;
    this.#log = log;
    this.#bus = new MasterEventBus(opts);
    // The caller of start() gets the error of a thread that dies during the start.
    this.#threads = new MasterThreads(log, () => this.#closing || !this.#serving);
  }

  /** Resolves when the master has ended. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /**
   * Starts a master whose directories exist (see lib/commands/daemons/preflight.ts); resolves when it is running.
   * @throws {PreflightError} If a master is running on this `sock_dir`, or an address is in use.
   * @throws {Error} If a thread cannot be started. Everything started so far is stopped.
   */
  static async start(opts: MasterOpts, log: Logger): Promise<Master> {
    checkBackends(opts);
    reactorOpts(opts); // throws if it cannot be started
    hasMasterReturners(opts); // the same
    checkFlow(opts); // the same
    checkPillarRepositories(optsValues(opts));
    // Checked first: binding an ipc address would take it from a running master.
    if (await answers(publishPullPath(opts.sock_dir))) {
      throw new PreflightError(`A master is already running with the sock_dir ${opts.sock_dir}`);
    }
    const master = new Master(opts, log);
    try {
      await master.#open();
    } catch (error) {
      await master.close();
      throw error;
    }
    return master;
  }

  /** Starts the parts, one after the other: each needs those before it. */
  async #open(): Promise<void> {
    const opts = this.#opts, startedMs = Date.now();
    await this.#joinCluster();
    const rotation = this.#rotation = this.#keyRotation();
    settlePair(opts, this.#log);
    const masterKey = await loadOrCreateMasterKey(opts.pki_dir, opts.keysize, {
      id: opts.id,
      permissive: opts.permissive_pki_access,
    });
    // With a signature that was made beforehand the signing key may be on another host.
    if (opts.master_sign_pubkey && !opts.master_use_pubkey_signature) {
      await loadOrCreateKeyPair(opts.pki_dir, opts.master_sign_key_name, opts.keysize);
    }
    const jobSecret = undeliveredSecret(opts.pki_dir, masterKey.pem);
    await restoreFromJournal(opts, jobSecret, this.#log);
    const users = new AdmittedUsers(opts, this.#log);
    const flow = flowMemory(opts.flow);
    const sessions = new SessionKeys(opts.cachedir, opts.publish_session * 1000).memory;
    const shared = {
      opts: packOpts("master", opts),
      sharedKey: this.#sharedKey.memory,
      sessions,
      masterPem: masterKey.pem,
      jobSecret,
      ...this.#cluster !== undefined && { cluster: this.#cluster.forThreads },
      ...flow !== undefined && { flow },
    };
    const inCluster = this.#cluster !== undefined;
    const events = await this.#bus.start(this.#threads, { listeners: users.listeners, inCluster });
    await this.#startDatabase({ opts: shared.opts, events });
    await this.#startCluster({ opts: shared.opts, jobSecret, events });
    const publishPort = await listening(`publish_port ${opts.publish_port}`, this.#startPublisher(shared));
    const requests = await this.#startRequests();
    const services = {
      ...shared,
      verified: new VerifiedTokens().memory,
      fired: new FiredReturns().memory,
      jids: this.#jidMemory(),
      signInLimit: rateMemory(),
      signIns: { turns: signInMemory(), others: rateMemory() },
      events,
      publishPort,
      accessKeys: users.keys,
      owner: users.owner,
    };
    const workers = await this.#startWorkers({
      ...services,
      requests: requests.workers,
      queued: opts.max_queued_requests,
    });
    await this.#startReactor({ ...services, startedMs });
    this.#engines = startEngines({
      role: "master",
      engines: opts.engines,
      cachedir: opts.cachedir,
      log: this.#log,
      opts: shared.opts,
      command: masterProcess(ENGINE_PROCESS),
    });
    await this.#startEventReturn({ opts: shared.opts, startedMs });
    if (flow !== undefined) this.#flowReport = new FlowReport(opts, flow, this.#log);
    this.#startUpkeep(publishPort, { rotation, users, workers });
    const ports = JSON.stringify({ publish_port: publishPort, ret_port: requests.port });
    writeFileAtomic(portsPath(opts.sock_dir), ports, { mode: 0o600 });
    users.openFile(portsPath(opts.sock_dir));
    this.#serving = true;
  }

  /** Starts the database of jobs, if they are in one. */
  async #startDatabase(init: Omit<StoreInit, "sockets" | "outboxCounter">): Promise<void> {
    const cluster = this.#cluster;
    const storeInit = { ...init, ...cluster !== undefined && { outboxCounter: cluster.outboxCounter } };
    this.#database = await JobDatabase.start(this.#opts, storeInit, this.#threads);
  }

  /** Ports to the databases of jobs and of the cluster, for a thread that starts. */
  #ports(name: string): { readonly storePort?: MessagePort; readonly clusterPort?: MessagePort } {
    const post = this.#threads.postTo(name);
    const storePort = this.#database?.openFor(name, post), clusterPort = this.#cluster?.openFor(name, post);
    return { ...storePort && { storePort }, ...clusterPort && { clusterPort } };
  }

  /** Becomes a member of its cluster, if it has one. */
  async #joinCluster(): Promise<void> {
    if ((this.#opts.cluster_id ?? "") === "") return removePeersPresence(this.#opts.cachedir);
    const { MasterCluster } = await import("../cluster/master_cluster.ts");
    this.#cluster = await MasterCluster.join(this.#opts, this.#sharedKey, this.#log);
  }

  /** The memory of jids; those of a master of a cluster differ from all others'. */
  #jidMemory(): SharedArrayBuffer {
    const memory = jidMemory();
    if (this.#cluster !== undefined) setJidOrigin(memory, this.#cluster.forThreads.origin);
    return memory;
  }

  /** Starts the thread that has the database of the cluster. */
  async #startCluster(init: Pick<ClusterStart, "opts" | "jobSecret" | "events">): Promise<void> {
    this.#clusterThread = await this.#cluster?.start({
      ...init,
      keep: (name, url, options) => this.#threads.keep<ClusterInit>(name, url, options),
      onKeyTaken: () => void this.#rotation?.tell(),
    });
  }

  /** Opens the port that takes requests, and looks at the memory of its connections from time to time. */
  async #startRequests(): Promise<RequestPort> {
    const requests = this.#requests = new RequestPort(this.#opts, this.#log);
    this.#memoryLooks = new CpuTimeWatch(() => this.#look(), (error) => {
      this.#log.error(`The memory of connections is not limited any more: ${describeError(error)}`);
    });
    await requests.start(this.#opts);
    return requests;
  }

  /** Starts the MWorkers, and what they pass requests on to. */
  async #startWorkers(init: Parameters<MWorkers["start"]>[0]): Promise<MWorkers> {
    const workers = this.#workers = new MWorkers({
      opts: this.#opts,
      packed: init.opts,
      log: this.#log,
      threads: this.#threads,
      fire: (tag, data) => this.#fire(tag, data),
      ports: (name) => this.#ports(name),
    });
    await workers.start(init);
    return workers;
  }

  /** Starts the reactor, if there is one. */
  async #startReactor(init: Omit<ReactorInit, "sockets">): Promise<void> {
    const opts = reactorOpts(this.#opts);
    if (opts === undefined) return;
    const reactor: SupervisedThread<ReactorInit> = this.#threads.keep<ReactorInit>(
      "Reactor",
      new URL("./reactor_thread.ts", import.meta.url),
      {
        init: () => ({ ...init, ...this.#ports("Reactor"), opts: packOpts("master", opts) }),
        canOverlap: true,
        onMessage: (message) =>
          this.#workers?.functions.take(parseFunctionRequest(message), (answer) => reactor.post(answer)),
      },
    );
    await reactor.ready;
  }

  /** Starts the returners of the master, if it has any. */
  async #startEventReturn(init: Omit<EventReturnInit, "sockets">): Promise<void> {
    if (!hasMasterReturners(this.#opts)) return;
    const url = new URL("../event_return/event_return_thread.ts", import.meta.url);
    await this.#threads.keep<EventReturnInit>("EventReturn", url, { init: () => init }).ready;
  }

  #keyRotation(): KeyRotation {
    const cluster = this.#cluster;
    return new KeyRotation({
      opts: this.#opts,
      sharedKey: this.#sharedKey,
      log: this.#log,
      fire: (tag, data) => this.#fire(tag, data),
      ...cluster !== undefined && { rotateCluster: (reason) => cluster.rotate(reason) },
    });
  }

  /** Exports metrics, if they are asked for. */
  async #measure(): Promise<void> {
    if (!truthy(this.#opts.metrics.get("enabled") ?? false)) return;
    const { startMasterMeter } = await import("./master_meter.ts");
    this.#meter = await startMasterMeter(this.#opts, this.#log);
    if (this.#closing) await this.#meter?.close(LAST_METRICS_MS);
  }

  /** Starts what works from time to time. */
  #startUpkeep(
    publishPort: number,
    { rotation, users, workers }: {
      readonly rotation: KeyRotation;
      readonly users: AdmittedUsers;
      readonly workers: MWorkers;
    },
  ): void {
    const opts = this.#opts;
    const presence = !opts.presence_events ? undefined : new PresenceRounds({
      opts,
      publishPort,
      data: new DataCache(opts.cachedir, { log: this.#log.error }),
      fire: (tag, data) => this.#fire(tag, data),
    });
    this.#maintenance = new Maintenance({
      opts,
      jobs: openJobStore(opts, { log: this.#log.error, rows: this.#database?.mainRows() }),
      log: this.#log,
      keyMadeMs: () => Math.max(this.#cluster?.keyMadeMs ?? -Infinity, rotation.madeMs),
      rotate: (reason) => rotation.rotate(reason),
      restoreAccessKeys: () => users.restoreKeys(),
      settlePair: () => settlePair(opts, this.#log),
      removesJobs: () => this.#cluster?.flags.holds("maintenance") ?? true,
      ...presence !== undefined && { reportPresence: () => presence.round() },
    });
    this.#measure().catch((error) => this.#log.error(`Nothing is measured: ${messageOf(error)}`));
    this.#fileUpdates = new FileUpdates({
      opts,
      backends: BACKENDS,
      log: this.#log,
      fire: (tag, data) => this.#fire(tag, data),
    });
    this.#schedule = new MasterSchedule({
      opts,
      log: this.#log.named("salt.schedule"),
      functions: workers.functions,
      fire: (tag, data) => this.#fire(tag, data),
      isRunHere: () => this.#cluster?.flags.holds("schedule") ?? true,
    });
    this.#schedule.start();
  }

  #look(): void {
    this.#lookAtMemory();
    // What computes without end uses a processor, so that this is called.
    this.#workers?.look();
  }

  /** For both ports at once: the limit is on memory of the whole process. */
  #lookAtMemory(): void {
    const { rss } = Deno.memoryUsage();
    this.#requests?.lookAtMemory(rss);
    const message: MemoryMessage = { rss };
    this.#publisher?.post(message);
  }

  async #startPublisher(init: Omit<PublisherInit, "sockets">): Promise<number> {
    const listening = Promise.withResolvers<number>();
    let opts = init.opts;
    this.#publisher = this.#threads.keep<PublisherInit>(
      "Publisher",
      new URL("../publisher/publisher_thread.ts", import.meta.url),
      {
        init: () => ({ ...init, ...this.#ports("Publisher"), opts }),
        onSuccessor: () => this.#afterPublisher(),
        onMessage(message) {
          listening.resolve(parsePublisherReady(message).publishPort);
        },
      },
    );
    await this.#publisher.ready;
    const publishPort = await listening.promise;
    // Keep the port: otherwise every minion would have to learn the new one.
    opts = packOpts("master", { ...this.#opts, publish_port: publishPort });
    return publishPort;
  }

  /** A new Publisher knows no job of other masters. */
  #afterPublisher(): void {
    this.#cluster?.publisherReplaced().catch((error) =>
      this.#log.error(`Jobs of other masters are not taken up again: ${messageOf(error)}`)
    );
  }

  async #fire(tag: string, data: ValueMap): Promise<void> {
    using bus = new EventSender(masterBus(this.#opts.sock_dir).pull);
    await bus.fireOrLog(tag, stamp(data), this.#log);
  }

  /** The current activity of each thread, one line each. */
  async describeThreads(): Promise<string[]> {
    const cleaning = this.#maintenance?.busy ? ", and at a round of Maintenance" : "";
    const processes = this.#workers === undefined ? "" : `; ${this.#workers.describeProcesses()}`;
    return [
      `Main: supervising ${this.#threads.size} threads${cleaning}${processes}`,
      ...this.#engines?.describe() ?? [],
      ...await this.#threads.describe(),
    ];
  }

  /**
   * Ends everything; no socket file is left. Threads that need more than `budget` are ended by force. May be called
   * more than once.
   */
  async close(budget = new TimeBudget(CLOSE_MS)): Promise<void> {
    if (this.#closing) return await this.closed;
    this.#closing = true;
    this.#schedule?.close();
    this.#flowReport?.close();
    await this.#meter?.close(LAST_METRICS_MS);
    await Promise.all([this.#maintenance?.close(), this.#fileUpdates?.close()]);
    await this.#rotation?.close();
    await this.#engines?.close(budget.less(BUS_END_MS));
    await this.#workers?.closeProcesses(budget.less(BUS_END_MS + ANSWERS_MS));
    const bus = this.#bus.thread;
    await this.#threads.stop(budget.less(BUS_END_MS), { but: [bus, this.#database?.thread, this.#clusterThread] });
    this.#cluster?.close();
    await this.#clusterThread?.stop(budget.less(BUS_END_MS));
    await this.#database?.thread.stop(budget.less(BUS_END_MS));
    if (this.#serving) { for (const ms of LAST_REPLIES_MS) await sleep(ms); }
    const abandoned = this.#workers?.haveSockets ?? false;
    await this.#requests?.close({ abandoned });
    await bus?.stop(budget);
    await this.#memoryLooks?.close();
    if (!abandoned && !bus?.hasSockets && !this.#database?.thread.hasSockets) this.#bus.terminate();
    this.#bus.removeFiles();
    for (const path of [publishPullPath, portsPath]) removeSocketFile(path(this.#opts.sock_dir));
    this.#closed.resolve();
  }
}

/** Whether a process listens on the Unix socket `path`. */
async function answers(path: string): Promise<boolean> {
  try {
    (await Deno.connect({ transport: "unix", path })).close();
    return true;
  } catch {
    return false; // no process listens, or only a socket file is left
  }
}
