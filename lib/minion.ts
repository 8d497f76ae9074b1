/**
 * The minion: signs in, listens for jobs, has them run, and returns what they gave.
 *
 * Its main thread only moves messages; jobs run in workers, returns wait on disk until the master has them.
 * Source: architecture.md "Processes of the minion"; salt-protocol.md sections 6 and 14.
 * @module
 */

import { AuthenticationError, MsgpackError, RequestTimeoutError, SignInError, WireError } from "./errors.ts";
import { jobAck, jobOutput, jobStart, LEGACY_START_EVENT, minionStart, stamp, stampNow } from "./event.ts";
import { EventBus, EventSender, EventSubscriber, minionBus } from "./event_bus.ts";
import { loadGrains } from "./grains.ts";
import { hashHex } from "./hash.ts";
import { interrupted, JobPool } from "./job_pool.ts";
import { type Asked, pack, unpack } from "./job_protocol.ts";
import { batchToMap, type LiveBatch } from "./live_batch.ts";
import { LiveOutput } from "./live_output.ts";
import type { Logger } from "./log.ts";
import { MasterLink } from "./master_link.ts";
import { applicantOf, linkSettings } from "./minion_link.ts";
import { handleLocalEvent } from "./minion_events.ts";
import type { MinionOpts } from "./options.ts";
import { packOpts } from "./opts_transfer.ts";
import { pillarRequest } from "./pillar_request.ts";
import type { Acknowledged } from "./outcome.ts";
import { presenceTopic } from "./presence.ts";
import { ProcFiles, type ProcState } from "./proc_files.ts";
import { PublishReader } from "./publish_reader.ts";
import { tcpAddress } from "./request_channel.ts";
import { ReturnSpool } from "./return_spool.ts";
import type { Credentials } from "./sign_in.ts";
import { sleep } from "./sleep.ts";
import { HEARTBEAT, Inbox } from "./sockets.ts";
import { isMap, map, str, type Value, type ValueMap } from "./value.ts";

/** Shortest time between two sign-ins that a disturbed connection caused, in milliseconds. */
const SIGN_IN_AGAIN_MS = 2_000;
/** How long a disturbance is left to settle before it is looked into, in milliseconds. */
const SETTLE_MS = 50;

/** How long a job may run before it is acknowledged by itself, in milliseconds. */
const ACKNOWLEDGE_MS = 100;
/** What looks at jobs, or ends them, never waits for its turn behind them. */
const ABOUT_JOBS: ReadonlySet<string> = new Set(
  ["running", "is_running", "find_job", "kill_job", "term_job", "signal_job"].map((name) => `saltutil.${name}`),
);
/** How many job ids are remembered at the least, over restarts too. */
const REMEMBERED_JIDS = 1_000;
/** How long a return waits for the job's output on its way, in milliseconds. */
const OUTPUT_MS = 500;

/** A running minion. */
export class Minion {
  readonly #opts: MinionOpts;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  readonly #closed = Promise.withResolvers<void>();
  #ending: Promise<void> | undefined;
  readonly #reader: PublishReader;
  readonly #proc: ProcFiles;
  readonly #queue: ValueMap[] = [];
  #link: MasterLink | undefined;
  #spool: ReturnSpool | undefined;
  #pool: JobPool | undefined;
  #bus: EventBus | undefined;
  #events: EventSubscriber | undefined;
  #inbox: Inbox | undefined;
  /** The topic by which the master knows that this minion is there. */
  #topic: string | undefined;
  #grains: ValueMap = new Map();
  #pillar: ValueMap = new Map();
  #pingTimer: ReturnType<typeof setInterval> | undefined;
  /** Whether somebody looks into a disturbance, and whether there was one that nobody has looked into. */
  #looking = false;
  #disturbed = false;
  /** The shared key when the connection was last disturbed. */
  #keyBefore: string | undefined;

  private constructor(opts: MinionOpts, log: Logger) {
    this.#opts = opts;
    this.#log = log;
    this.#proc = new ProcFiles(opts.cachedir);
    this.#reader = new PublishReader({
      id: opts.id,
      requireSignature: opts.sign_pub_messages,
      rememberedJids: Math.max(opts.minion_jid_queue_hwm, REMEMBERED_JIDS),
      jidFile: `${opts.cachedir}/jids`,
      admit: (jid, load) => this.#noteProc(jid, load, "running"),
      log,
    });
    // The file of ids may be behind: whoever died wrote it second.
    for (const { load } of this.#proc.left) this.#reader.remember(str(load.get("jid") ?? ""));
  }

  /** Resolves when the minion has ended, rejects with what ended it. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /**
   * Starts a minion whose directories are there; resolves when it serves its own bus. It signs in after that, for as long
   * as the operator takes; {@linkcode closed} tells if that can never be.
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
    const paths = minionBus(opts.sock_dir, hashHex(opts.id, opts.hash_type).slice(0, 10));
    this.#bus = await EventBus.open(paths);
    this.#events = await EventSubscriber.connect(paths.pub, [""]);
    this.#grains = await this.#loadGrains();
    this.#pool = new JobPool({
      opts: packOpts(opts),
      knowledge: this.#knowledge(),
      log: this.#log,
      answer: (asked) => this.#answer(asked),
    });
    this.#link = new MasterLink(linkSettings(opts, {
      applicant: await applicantOf(opts, this.#grains),
      log: this.#log,
      onSignedIn: (credentials) => this.#trust(credentials),
    }));
    this.#spool = new ReturnSpool({
      directory: `${opts.cachedir}/returns`,
      send: (load) => this.#deliver(load),
      limits: { maxBytes: opts.return_spool_max_size, maxAgeMs: opts.return_spool_max_age * 1000 },
      retryMs: [opts.return_retry_timer * 1000, Math.max(opts.return_retry_timer_max, opts.return_retry_timer) * 1000],
      log: this.#log,
    });
    this.#returnInterrupted();
    void this.#hearEvents(this.#events);
  }

  #loadGrains(): Promise<ValueMap> {
    return loadGrains(this.#opts, { warn: this.#log.warning });
  }

  #knowledge() {
    return { grains: pack(this.#grains), pillar: pack(this.#pillar) };
  }

  async #serve(): Promise<void> {
    try {
      const link = this.#connected();
      const { publishPort } = await link.signIn(this.#closing.signal);
      this.#listen(this.#opts.publish_port ?? publishPort);
      await this.#firstPillar();
      await this.#announce();
      this.#spool?.flush();
      if (this.#opts.ping_interval > 0) {
        const ping = () => void this.fireMaster(map({ data: "ping", tag: "minion_ping" }));
        this.#pingTimer = setInterval(ping, this.#opts.ping_interval * 60_000);
      }
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#end(error);
    }
  }

  /** A master that does not give the pillar, or restarts meanwhile, is no reason to end. */
  async #firstPillar(): Promise<void> {
    try {
      await this.#refreshPillar();
    } catch (error) {
      if (!isTrouble(error)) throw error;
      this.#log.error(`The pillar stays empty until it is refreshed: ${error.message}`);
    }
  }

  #connected(): MasterLink {
    if (this.#link === undefined) throw new Error("the minion is not open");
    return this.#link;
  }

  #subscribe(port: number): Inbox {
    const { id, master, recon_default, recon_max, recon_randomize, tcp_keepalive, tcp_keepalive_idle } = this.#opts;
    // Spread over time, so that a master that comes back is not met by all its minions at once.
    const reconnectMs = recon_randomize ? recon_default + Math.floor(Math.random() * recon_max) : recon_default;
    const inbox = Inbox.subscriber({
      identity: id,
      highWaterMark: 0,
      reconnectMs: Math.min(reconnectMs, recon_max),
      reconnectMaxMs: recon_max,
      keepaliveIdleS: tcp_keepalive ? tcp_keepalive_idle : undefined,
      ...HEARTBEAT,
      ipv6: this.#opts.ipv6 ?? master.includes(":"),
    });
    if (this.#opts.zmq_filtering) {
      for (const topic of ["broadcast", hashHex(id, "sha1")]) inbox.subscribe(topic);
    } else {
      inbox.subscribe("");
    }
    if (this.#topic !== undefined) inbox.subscribe(this.#topic);
    inbox.onLost(() => void this.#lookIntoDisturbance());
    inbox.connect(tcpAddress(master, port));
    return inbox;
  }

  /** A lost connection often means that the master restarted, with a new shared key: fetch it before the next job. */
  async #lookIntoDisturbance(): Promise<void> {
    if (!this.#disturbed) this.#keyBefore = this.#connected().credentials?.sharedKey;
    this.#disturbed = true;
    if (this.#looking || this.#closing.signal.aborted) return;
    this.#looking = true;
    try {
      // A master that is ending may still answer: one that seems to be the same is asked once more.
      for (let calm = 0; calm < 2; calm++) {
        const restarted = await this.#reconnect();
        if (this.#disturbed) calm = -1;
        else if (restarted) break;
      }
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#end(error);
    } finally {
      this.#looking = false;
    }
  }

  /** Signs in and subscribes anew. @returns Whether the master is a new one; it is told then that this minion is here. */
  async #reconnect(): Promise<boolean> {
    const { signal } = this.#closing;
    const link = this.#connected();
    let old: Inbox | undefined;
    try {
      await sleep(SETTLE_MS, signal);
      const lost = this.#disturbed;
      this.#disturbed = false;
      this.#log.debug("The connection to the master was disturbed; signing in again");
      if (lost) link.reconnect();
      const { publishPort, sharedKey } = await link.signIn(signal);
      const restarted = sharedKey !== this.#keyBefore;
      this.#keyBefore = sharedKey;
      if (lost || restarted) {
        // The master is there: no need to sit out the time until libzmq tries again. The old subscription, should it live
        // after all, is read until the new one surely does; what comes twice is dropped by its serial.
        old = this.#inbox;
        this.#listen(this.#opts.publish_port ?? publishPort);
      }
      this.#log.debug(restarted ? "The master is a new one" : "The master is the same");
      if (restarted) void this.#announce();
      await sleep(SIGN_IN_AGAIN_MS, signal);
      return restarted;
    } finally {
      old?.close();
    }
  }

  #trust(credentials: Credentials): void {
    const topic = presenceTopic(this.#opts.id, credentials.sessionKey);
    if (topic !== this.#topic) {
      this.#inbox?.subscribe(topic);
      if (this.#topic !== undefined) this.#inbox?.unsubscribe(this.#topic);
      this.#topic = topic;
    }
    // Whoever hands out a new key is there, and takes the returns that wait.
    if (this.#reader.trust(credentials)) this.#spool?.flush();
  }

  /** Subscribes, and takes what comes until the subscription is closed. */
  #listen(port: number): void {
    const inbox = this.#subscribe(port);
    this.#inbox = inbox;
    const take = async () => {
      for (;;) {
        const frames = await inbox.receive();
        if (frames === undefined) return;
        // With zmq_filtering the topic comes first; either way the payload is last.
        const load = await this.#read(frames[frames.length - 1]);
        if (load !== undefined) this.#take(load);
      }
    };
    take().catch((error) => this.#closing.signal.aborted || this.#end(error));
  }

  async #read(frame: Uint8Array): Promise<ValueMap | undefined> {
    try {
      try {
        return this.#reader.read(frame);
      } catch (error) {
        if (!(error instanceof AuthenticationError)) throw error;
        this.#log.info(`A publish does not open (${error.message}); asking the master for its key`);
        await this.#connected().signIn(this.#closing.signal);
        return this.#reader.read(frame);
      }
    } catch (error) {
      if (error instanceof SignInError) throw error;
      if (error instanceof AuthenticationError || error instanceof WireError || error instanceof MsgpackError) {
        this.#log.error(`Dropped a publish: ${error.message}`);
        return undefined;
      }
      throw error;
    }
  }

  /** Runs a job now, or when one of `process_count_max` others has ended. */
  #take(load: ValueMap): void {
    if (this.#hasRoom() || ABOUT_JOBS.has(str(load.get("fun") ?? null))) return void this.#run(load);
    const most = this.#opts.process_count_max;
    this.#log.warning(`Job ${str(load.get("jid") ?? "")} waits: ${most} jobs are running (process_count_max)`);
    this.#queue.push(load);
    this.#noteProc(str(load.get("jid") ?? ""), load, "queued");
    void this.#acknowledge(load, "received");
  }

  #hasRoom(): boolean {
    const most = this.#opts.process_count_max;
    return most <= 0 || (this.#pool?.size ?? 0) < most;
  }

  /** Runs a job that had to wait. */
  #takeNext(): void {
    const next = this.#hasRoom() ? this.#queue.shift() : undefined;
    if (next === undefined) return;
    this.#noteProc(str(next.get("jid") ?? ""), next, "running");
    void this.#run(next);
  }

  async #run(load: ValueMap): Promise<void> {
    const jid = str(load.get("jid") ?? "");
    const { id } = this.#opts;
    const field = (key: string) => load.get(key) ?? null;
    this.#log.info(`User ${str(field("user"))} executes ${str(field("fun"))} with jid ${jid}`);
    try {
      if (load.get("start_event") === true) {
        const { fun, tgt, tgt_type, user } = Object.fromEntries(
          ["fun", "tgt", "tgt_type", "user"].map((k) => [k, field(k)]),
        );
        void this.fireMaster(map({ tag: jobStart(jid, id), data: { id, jid, fun, tgt, tgt_type, user } }));
      }
      // A job that is over by then is acknowledged by its return.
      const acknowledging = setTimeout(() => void this.#acknowledge(load, "running"), ACKNOWLEDGE_MS);
      const live = load.get("live") === true ? this.#liveOutput(load) : undefined;
      const outcome = await this.#pool?.run(load, (written) => live?.write(written)) ?? new Map();
      clearTimeout(acknowledging);
      // In line before the return, so that whoever watches the job has all when that comes.
      for (const batch of await live?.end(OUTPUT_MS) ?? []) this.#spool?.add(this.#outputLoad(load, batch));
      this.#spool?.add(this.#returnLoad(load, outcome));
      this.#proc.remove(jid);
    } catch (error) {
      this.#log.critical(`Job ${jid} was lost: ${error instanceof Error ? error.stack : error}`);
    }
    this.#takeNext();
  }

  /** Tells the master that this minion has a job, so that it neither sends it again nor asks for it. */
  async #acknowledge(load: ValueMap, state: Acknowledged): Promise<void> {
    const { id } = this.#opts;
    const jid = str(load.get("jid") ?? "");
    await this.fireMaster(map({ tag: jobAck(jid, id), data: { id, jid, fun: load.get("fun"), state } }));
  }

  #liveOutput(load: ValueMap): LiveOutput {
    const { live_output_rate, live_output_max } = this.#opts;
    return new LiveOutput({
      send: (batch) => this.fireMaster(this.#outputLoad(load, batch)),
      limits: { rateBytes: live_output_rate, maxBytes: live_output_max },
    });
  }

  #outputLoad(load: ValueMap, batch: LiveBatch): ValueMap {
    const { id } = this.#opts;
    const jid = str(load.get("jid") ?? "");
    const data = new Map([...map({ id, jid }), ...batchToMap(batch)]);
    return map({ id, cmd: "_minion_event", jid, tag: jobOutput(jid, id), data });
  }

  /** Returns for the jobs that the last process of this minion had when it died, unless their own returns wait already. */
  #returnInterrupted(): void {
    const { left } = this.#proc;
    const spooled = left.length === 0 ? undefined : this.#spool?.jids();
    for (const { load, state } of left) {
      const jid = str(load.get("jid") ?? "");
      if (!spooled?.has(jid)) {
        this.#spool?.add(this.#returnLoad(load, interrupted(state)));
        this.#log.warning(`Job ${jid}, which was ${state} when this minion ended, is returned as interrupted`);
      }
      this.#proc.remove(jid);
    }
  }

  #noteProc(jid: string, load: ValueMap, state: ProcState): void {
    try {
      this.#proc.add(jid, load, state);
    } catch (error) {
      // A full disk is no reason not to run a job that may be the one that clears it.
      this.#log.error(`There is no proc file of job ${jid}: ${error instanceof Error ? error.message : error}`);
    }
  }

  #returnLoad(load: ValueMap, outcome: ValueMap): ValueMap {
    const returned = map({
      cmd: "_return",
      id: this.#opts.id,
      success: outcome.get("success"),
      return: outcome.get("return"),
      retcode: outcome.get("retcode"),
      jid: load.get("jid"),
      fun: load.get("fun"),
      fun_args: load.get("arg"),
      user: load.get("user"),
      _stamp: stampNow(),
    });
    for (const key of ["out", "interrupted"]) if (outcome.has(key)) returned.set(key, outcome.get(key) ?? null);
    for (const key of ["master_id", "metadata"]) if (load.has(key)) returned.set(key, load.get(key) ?? null);
    return returned;
  }

  async #deliver(load: ValueMap): Promise<void> {
    try {
      await this.#connected().request(load, this.#closing.signal);
    } catch (error) {
      if (error instanceof SignInError) this.#end(error);
      throw error;
    }
  }

  async #refreshPillar(): Promise<void> {
    const request = pillarRequest(this.#opts, this.#grains);
    this.#pillar = await this.#connected().requestPillar(request, this.#closing.signal);
    this.#pool?.learn(this.#knowledge());
  }

  async #announce(): Promise<void> {
    const { id, start_event_grains, enable_legacy_startup_events } = this.#opts;
    const data = `Minion ${id} started at ${asctime(new Date())}`;
    const grains: ValueMap = new Map();
    for (const name of start_event_grains) if (this.#grains.has(name)) grains.set(name, this.#grains.get(name) ?? null);
    const tags = [...(enable_legacy_startup_events ? [LEGACY_START_EVENT] : []), minionStart(id)];
    for (const tag of tags) {
      const event = map({ pretag: null, data, tag });
      if (grains.size > 0) event.set("grains", grains);
      await this.fireMaster(event);
    }
  }

  /** Sends an event to the master: `tag` and `data`, or `events`. @returns Whether the master took it. Never rejects. */
  async fireMaster(event: ValueMap): Promise<boolean> {
    const load = new Map([...map({ id: this.#opts.id, cmd: "_minion_event" }), ...event]);
    try {
      await this.#connected().request(load, this.#closing.signal);
      return true;
    } catch (error) {
      if (this.#closing.signal.aborted) return false;
      const reason = error instanceof Error ? error.message : error;
      this.#log.error(`The master did not take the event ${str(event.get("tag") ?? null)}: ${reason}`);
      if (!isTrouble(error)) this.#end(error);
      return false;
    }
  }

  async #hearEvents(events: EventSubscriber): Promise<void> {
    for (;;) {
      let event;
      try {
        event = await events.next();
      } catch (error) {
        this.#log.error(`Dropped an event: ${error instanceof Error ? error.message : error}`);
        continue;
      }
      if (event === undefined) return;
      try {
        await handleLocalEvent(event, this);
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        this.#log.error(`The event ${event.tag} failed: ${error instanceof Error ? error.message : error}`);
      }
    }
  }

  /** Loads modules anew, for the jobs from now on. */
  async refreshModules(): Promise<void> {
    await this.#pool?.reload();
  }

  /** Computes the grains again, and tells the master with the pillar. */
  async refreshGrains(): Promise<void> {
    this.#grains = await this.#loadGrains();
    this.#pool?.learn(this.#knowledge());
    await this.#refreshPillar();
  }

  /** Asks the master for the pillar, which tells it the grains as well. */
  async refreshPillar(): Promise<void> {
    await this.#refreshPillar();
  }

  /** What jobs ask of their minion. */
  async #answer(asked: Asked): Promise<Value> {
    switch (asked.what) {
      case "request": {
        const load = unpack(asked.load);
        if (!isMap(load)) throw new WireError("a request that is no map");
        return await this.#connected().request(load, this.#closing.signal);
      }
      case "fire": {
        const data = unpack(asked.data);
        return await this.#fireLocal(asked.tag, isMap(data) ? data : map({ data }));
      }
      case "refresh":
        if (asked.refresh === "modules") await this.refreshModules();
        if (asked.refresh === "grains") await this.refreshGrains();
        if (asked.refresh === "pillar") await this.refreshPillar();
        return true;
      default:
        throw new Error(`nobody answers ${asked.what}`);
    }
  }

  async #fireLocal(tag: string, data: ValueMap): Promise<boolean> {
    const { sock_dir, id, hash_type } = this.#opts;
    using bus = new EventSender(minionBus(sock_dir, hashHex(id, hash_type).slice(0, 10)).pull);
    return await bus.fire(tag, stamp(data));
  }

  /** One line for each thread: what it is doing now. */
  async describeThreads(): Promise<string[]> {
    const state = this.#inbox === undefined
      ? "signing in"
      : `listening for jobs; ${this.#spool?.size ?? 0} returns wait`;
    return [`Main: ${state}`, ...await this.#pool?.describe() ?? []];
  }

  #end(error: unknown): void {
    void this.#shutDown().then(() => this.#closed.reject(error));
  }

  /** Ends everything; jobs are told to end, returns stay spooled. Twice is fine. */
  async close(): Promise<void> {
    await this.#shutDown();
    this.#closed.resolve();
  }

  /** Both ways to end share it: whoever comes second waits for the first. */
  #shutDown(): Promise<void> {
    return this.#ending ??= this.#closeAll();
  }

  async #closeAll(): Promise<void> {
    this.#closing.abort(new Error("The minion ends"));
    clearInterval(this.#pingTimer);
    this.#inbox?.close();
    this.#link?.close();
    this.#events?.close();
    await this.#spool?.close();
    await this.#pool?.close();
    await this.#bus?.close();
  }

  /** `await using` ends it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Whether an error is one that a master or the way to it may have at any time. */
function isTrouble(error: unknown): error is Error {
  return [RequestTimeoutError, WireError, AuthenticationError].some((kind) => error instanceof kind);
}

/** Python's `time.asctime()`: `Sat Nov 21 10:00:00 2026`, local time. */
function asctime(date: Date): string {
  const [day, month, number, year, time] = date.toString().split(" ");
  return `${day} ${month} ${String(Number(number)).padStart(2)} ${time} ${year}`;
}
