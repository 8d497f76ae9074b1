/**
 * The thread of returners on the master: `event_return` and `master_return`.
 * @module
 */

import { masterBus } from "#lib/bus/paths.ts";
import { eventLogDirectory, returnersDirectory } from "#lib/config/master_paths.ts";
import { unpackOpts } from "#lib/config/opts_transfer.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { messageOf } from "#lib/errors.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { TimeBudget } from "#lib/os/time_budget.ts";
import { ALIASES } from "#lib/plugins/aliases.ts";
import { loadFamily } from "#lib/plugins/loader.ts";
import type { ReturnerContext } from "#lib/plugins/returner.ts";
import { EVENT_OPTIONS, masterReturners } from "#lib/returners/master_returners.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { serveThread, surviveErrors, type ThreadHost, type ThreadService } from "#lib/runtime/thread.ts";
import { noteSockets } from "#lib/sockets/context.ts";
import type { SupervisedInit } from "#lib/sockets/supervised_thread.ts";
import { PythonLease } from "#lib/python_bridge/loader/separate_calls.ts";
import { RETURNERS } from "#modules/returners/_built_in.ts";
import { EventForwarder } from "./event_forwarder.ts";
import { cleanJobs, type EventSink, makeSink, type SinkParts } from "./event_sink.ts";
import { JobCleaning } from "./job_cleaning.ts";
import { withMasterReturners } from "./python_returners.ts";

/** The data that it starts with. */
export interface EventReturnInit extends SupervisedInit {
  /** The master's packed options. */
  readonly opts: Uint8Array;
  /** When the master was started, in milliseconds since the epoch. */
  readonly startedMs: number;
}

/** Pause before another try to start, in milliseconds. */
const RETRY_MS = 5_000;

/** Calls that go on are told to end this time before the thread is ended by force, in milliseconds. */
const CALLS_END_MS = 500;

/** Least interval at which old jobs are removed from the caches, in milliseconds. */
const LEAST_CLEANING_MS = 1_000;

class EventReturnService implements ThreadService {
  readonly #opts: MasterOpts;
  readonly #log: Logger;
  /** Tells calls to end. */
  readonly #ending = new AbortController();
  /** No forwarder is started any more. */
  readonly #stopping = new AbortController();
  readonly #lease: PythonLease;
  readonly #forwarders: readonly EventForwarder[];
  readonly #starting: Promise<unknown>;
  readonly #plugins: SinkParts;
  readonly #cleaning: JobCleaning;

  constructor(init: EventReturnInit, { log }: ThreadHost) {
    const opts = this.#opts = unpackOpts("master", init.opts);
    this.#log = log;
    this.#lease = new PythonLease(opts, { printed: log.info, keeps: true });
    this.#plugins = this.#load();
    this.#forwarders = this.#sinks().map((sink) =>
      new EventForwarder({
        sink,
        paths: masterBus(opts.sock_dir),
        logDirectory: eventLogDirectory(opts.cachedir),
        directory: returnersDirectory(opts.cachedir),
        startedMs: init.startedMs,
        queue: sink.option === "event_return" ? opts.event_return_queue : 0,
        queueMs: opts.event_return_queue_max_seconds * 1000,
        log,
      })
    );
    this.#starting = Promise.all(this.#forwarders.map((forwarder) => this.#start(forwarder)));
    this.#cleaning = new JobCleaning({
      names: masterReturners("master_job_cache", opts).names,
      everyMs: Math.max(opts.loop_interval * 1000, LEAST_CLEANING_MS),
      log,
      clean: (name) => cleanJobs(name, this.#plugins),
    });
  }

  #load(): SinkParts {
    const opts = this.#opts, log = this.#log;
    const builtin = loadFamily<ReturnerContext>(RETURNERS, {
      directories: [`${opts.extension_modules}/returners`],
      disabled: opts.disable_returners,
      aliases: ALIASES.returners,
      warn: (text) => log.warning(text),
    });
    const family = withMasterReturners(builtin, { opts, log, lease: this.#lease, signal: this.#ending.signal });
    const context: ReturnerContext = {
      opts,
      grains: new Map(),
      pillar: new Map(),
      signal: this.#ending.signal,
      log: (level, message) => log[level](message),
    };
    return { opts, family, context };
  }

  #sinks(): EventSink[] {
    const opts = this.#opts, log = this.#log;
    return EVENT_OPTIONS.flatMap((option) => {
      const { names, refused } = masterReturners(option, opts);
      for (const name of refused) log.error(`${option}: there is no returner of the name ${name}`);
      return names.map((name) => makeSink(option, name, this.#plugins));
    });
  }

  /** Starts one; tries again if the event log cannot be read. */
  async #start(forwarder: EventForwarder): Promise<void> {
    const { signal } = this.#stopping;
    for (let tries = 1; !signal.aborted; tries++) {
      try {
        return await forwarder.start();
      } catch (error) {
        if (tries === 1) this.#log.error(`Returners get no events yet: ${messageOf(error)}`);
        await sleep(RETRY_MS, signal).catch(() => {});
      }
    }
  }

  describe(): string {
    return this.#forwarders.map((forwarder) => forwarder.describe()).join("; ");
  }

  async close(budget: TimeBudget): Promise<void> {
    this.#cleaning.close();
    this.#stopping.abort();
    // Waiting events get their call before calls are told to end.
    const closing = this.#starting.then(() => Promise.all(this.#forwarders.map((forwarder) => forwarder.close())));
    const isDone = await budget.less(CALLS_END_MS).allows(closing);
    this.#ending.abort();
    if (!isDone) await closing;
    await this.#lease.close();
  }
}

serveThread<EventReturnInit>((init, host) => {
  surviveErrors(host.log);
  noteSockets(init.sockets);
  return Promise.resolve(new EventReturnService(init, host));
});
