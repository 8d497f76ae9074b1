/**
 * The syndic: a process beside a master, which takes the jobs of a higher master (the top), publishes them on its own
 * master, and carries events and returns up. To the top it is a minion, with the id and the key of this host's minion.
 * Source: Salt 3007.15 `salt/minion.py` Syndic, SyndicManager; docs/syndic.md.
 * @module
 */

import { masterBus } from "#lib/bus/paths.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { LocalClient } from "#lib/client/local.ts";
import { readMasterEntries } from "#lib/config/master_entries.ts";
import type { MasterOpts, MinionOpts } from "#lib/config/options.ts";
import { messageOf, NoMasterError, PreflightError, SignInError, StoreError, TargetError } from "#lib/errors.ts";
import { openJobStore } from "#lib/stores/open_store.ts";
import { applicantOf } from "#lib/minion/masters/link_settings.ts";
import { JidMemory } from "#lib/minion/masters/jid_memory.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { TimeBudget } from "#lib/os/time_budget.ts";
import { LEGACY_SYNDIC_START, syndicStart } from "#lib/protocol/tags.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { strftime } from "#lib/text/strftime.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";
import { Forwarded } from "./forwarded.ts";
import { HigherMaster } from "./higher_master.ts";

/** Job ids that are remembered at least. */
const MIN_JIDS = 10_000;
/** Jobs of which the top is remembered. */
const MAX_JOBS = 10_000;
/** Time between two tries to reach this host's own master, in milliseconds. */
const OWN_MASTER_MS = 1_000;
/** Fields of a job's load that its publish has in `kwargs`. */
const PASSED_ON = [
  "auth_list",
  "user",
  "master_id",
  "ret_config",
  "ret_kwargs",
  "metadata",
  "module_executors",
  "executor_opts",
  "start_event",
  "delimiter",
];

/** A running syndic. */
export class Syndic {
  readonly #opts: MasterOpts;
  readonly #minion: MinionOpts;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  readonly #closed = Promise.withResolvers<void>();
  readonly #forwarded: Forwarded;
  /** Of a job the top that gave it. */
  readonly #topOf = new BoundedMap<string, HigherMaster>(MAX_JOBS);
  #tops: readonly HigherMaster[] = [];
  #events: EventSubscriber | undefined;
  #client: LocalClient | undefined;
  #publishing = Promise.resolve();
  #ending: Promise<void> | undefined;

  private constructor(opts: MasterOpts, minion: MinionOpts, log: Logger) {
    this.#opts = opts;
    this.#minion = minion;
    this.#log = log;
    const store = openJobStore(opts, { log: log.warning });
    this.#forwarded = new Forwarded(minion.id, {
      async loadOf(jid) {
        try {
          return await store.getLoad(jid);
        } catch (error) {
          if (!(error instanceof StoreError)) throw error;
          log.error(`The load of job ${jid} does not go to the higher master: ${error.message}`);
          return undefined;
        }
      },
      hwm: opts.syndic_jid_forward_cache_hwm,
    });
  }

  /** Resolves when the syndic has ended; rejects with the error that ended it. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /**
   * Starts a syndic; it signs in after that.
   * @param opts Of the master on this host.
   * @param minion Of the minion on this host: id, keys, time limits.
   */
  static async start(opts: MasterOpts, minion: MinionOpts, log: Logger): Promise<Syndic> {
    const syndic = new Syndic(opts, minion, log);
    await syndic.#open();
    return syndic;
  }

  async #open(): Promise<void> {
    const opts = this.#opts, log = this.#log;
    const port = opts.syndic_master_port ?? this.#minion.master_port;
    const { entries, problems } = readMasterEntries(opts.syndic_master, {
      master_port: port,
      master_uri_format: this.#minion.master_uri_format,
    });
    for (const problem of problems) log.error(`syndic_master: ${problem}`);
    if (entries.length === 0) throw new PreflightError("syndic_master names no master");
    const applicant = {
      ...await applicantOf(this.#minion, new Map()),
      masterKeyName: "syndic_master",
      masterFinger: opts.syndic_finger,
    };
    const jids = new JidMemory({ min: MIN_JIDS, path: `${opts.cachedir}/syndic_jids`, log });
    const parts = {
      opts: this.#minion,
      applicant,
      log,
      jids,
      directory: `${opts.cachedir}/syndic_returns`,
      closing: this.#closing.signal,
      take: (load: ValueMap, from: HigherMaster) => this.#take(load, from),
      onServing: (top: HigherMaster) => void this.#fireStart(top),
      fail: (error: unknown, top: HigherMaster) => this.#failed(error, top),
    };
    this.#tops = entries.map((entry) => new HigherMaster(parts, entry));
    for (const top of this.#tops) void this.#serve(top);
    void this.#follow();
    void this.#forward();
  }

  /** Signs in at a top. One that refuses the syndic does not keep it from the others. */
  async #serve(top: HigherMaster): Promise<void> {
    try {
      await top.connect();
      await this.#fireStart(top);
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#failed(error, top);
    }
  }

  #failed(error: unknown, top: HigherMaster): void {
    if (!(error instanceof SignInError) || this.#tops.length === 1) return this.#end(error);
    const waitS = this.#minion.acceptance_wait_time;
    this.#log.error(`The master ${top.name} is not served, and tried again in ${waitS} seconds: ${error.message}`);
    void this.#pause(waitS * 1000).then(() => this.#closing.signal.aborted ? undefined : this.#serve(top));
  }

  /** Waits, or until the syndic ends. */
  async #pause(ms: number): Promise<void> {
    await sleep(ms, this.#closing.signal).catch(() => {}); // its end
  }

  async #fireStart(top: HigherMaster): Promise<void> {
    const { id, enable_legacy_startup_events } = this.#minion;
    const text = `Syndic ${id} started at ${strftime(new Date(), "%c")}`;
    try {
      if (enable_legacy_startup_events) await top.fire(LEGACY_SYNDIC_START, text);
      await top.fire(syndicStart(id), text);
    } catch (error) {
      if (!this.#closing.signal.aborted) {
        this.#log.error(`${top.name} did not take the start event: ${messageOf(error)}`);
      }
    }
  }

  /** Publishes a job of a top on this host's master, in the order of their arrival. */
  #take(load: ValueMap, from: HigherMaster): void {
    const jid = str(load.get("jid") ?? "");
    this.#topOf.set(jid, from);
    this.#publishing = this.#publishing.then(() => this.#publish(jid, load));
  }

  /** Never rejects. */
  async #publish(jid: string, load: ValueMap): Promise<void> {
    const kwargs: ValueMap = new Map();
    for (const key of PASSED_ON) if (load.has(key)) kwargs.set(key, load.get(key) ?? null);
    try {
      this.#client ??= await LocalClient.connect(this.#opts, { user: this.#opts.user, log: this.#log });
      const { minions } = await this.#client.publish({
        tgt: load.get("tgt") ?? null,
        tgtType: str(load.get("tgt_type") ?? "glob"),
        fun: load.get("fun") ?? null,
        arg: listOrEmpty(load.get("arg")),
        ret: str(load.get("ret") ?? ""),
        jid,
        kwargs,
      });
      this.#log.info(`Job ${jid} of a higher master is published to ${minions.length} minions`);
    } catch (error) {
      if (error instanceof TargetError) return this.#log.info(`Job ${jid} of a higher master is for no minion here`);
      this.#log.error(`Job ${jid} of a higher master is not published: ${messageOf(error)}`);
      this.#client?.close();
      this.#client = undefined;
    }
  }

  /** Reads the bus of this host's master, also after that has restarted. */
  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        this.#events = await EventSubscriber.connect(masterBus(this.#opts.sock_dir).pub, [""]);
        for (let event = await this.#events.next(); event !== undefined; event = await this.#events.next()) {
          this.#forwarded.add(event);
          // They go to the disk, also while a higher master is slow to take events.
          if (this.#forwarded.hasManyReturns) this.#giveBack(await this.#forwarded.takeReturns());
        }
      } catch (error) {
        if (!(error instanceof NoMasterError)) return this.#end(error);
        if (!signal.aborted) this.#log.error(`The master of this host does not run: ${error.message}`);
      }
      this.#events?.close();
      await this.#pause(OWN_MASTER_MS);
    }
  }

  /** Sends what was collected, at the interval `syndic_event_forward_timeout`. */
  async #forward(): Promise<void> {
    const { signal } = this.#closing, intervalMs = this.#opts.syndic_event_forward_timeout * 1000;
    while (!signal.aborted) {
      await this.#pause(intervalMs);
      if (signal.aborted) return;
      const { events, dropped } = this.#forwarded.takeEvents();
      if (dropped > 0) this.#log.warning(`${dropped} events are not forwarded: too many came at once`);
      // Before the returns: they say which minions a job is for.
      await Promise.all(this.#tops.map((top) => top.connected ? this.#forwardEvents(top, events) : undefined));
      this.#giveBack(await this.#forwarded.takeReturns());
    }
  }

  async #forwardEvents(top: HigherMaster, events: readonly Value[]): Promise<void> {
    try {
      await top.forward(events);
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#log.error(`${top.name} did not take events: ${messageOf(error)}`);
    }
  }

  /** Each job's returns go to the top that gave it; of a job that was started here, to the first that is connected. */
  #giveBack(returns: ReadonlyMap<string, ValueMap>): void {
    const ofTop = new Map<HigherMaster, ValueMap[]>();
    for (const [jid, job] of returns) {
      const top = this.#topOf.get(jid) ?? this.#tops.find(({ connected }) => connected) ?? this.#tops[0];
      ofTop.set(top, [...ofTop.get(top) ?? [], job]);
    }
    for (const [top, jobs] of ofTop) top.giveBack(jobs);
  }

  /** The current activity, one line each. */
  describeThreads(): Promise<string[]> {
    return Promise.resolve(
      this.#tops.map(({ name, connected }) => `${name}: ${connected ? "connected" : "signing in"}`),
    );
  }

  #end(error: unknown): void {
    void this.#shutDown().then(() => this.#closed.reject(error));
  }

  /** Ends it. Returns that the tops do not have yet stay on disk. */
  async close(_budget?: TimeBudget): Promise<void> {
    await this.#shutDown();
    this.#closed.resolve();
  }

  #shutDown(): Promise<void> {
    return this.#ending ??= (async () => {
      this.#closing.abort(new Error("The syndic ends"));
      this.#giveBack(await this.#forwarded.takeReturns());
      this.#events?.close();
      await Promise.all(this.#tops.map((top) => top.close()));
      await this.#publishing;
      this.#client?.close();
    })();
  }
}
