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
import { loadFamily } from "#lib/plugins/loader.ts";
import type { ReturnerContext } from "#lib/plugins/returner.ts";
import { returnerNames } from "#lib/returners/names.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { serveThread, surviveErrors, type ThreadHost, type ThreadService } from "#lib/runtime/thread.ts";
import { noteSockets } from "#lib/sockets/context.ts";
import type { SupervisedInit } from "#lib/sockets/supervised_thread.ts";
import { RETURNERS } from "#modules/returners/_built_in.ts";
import { EventForwarder } from "./event_forwarder.ts";
import { type EventSink, eventSink, returnSink } from "./event_sink.ts";

/** The data that it starts with. */
export interface EventReturnInit extends SupervisedInit {
  /** The master's packed options. */
  readonly opts: Uint8Array;
  /** When the master was started, in milliseconds since the epoch. */
  readonly startedMs: number;
}

/** Pause before another try to start, in milliseconds. */
const RETRY_MS = 5_000;

class EventReturnService implements ThreadService {
  readonly #opts: MasterOpts;
  readonly #log: Logger;
  readonly #ending = new AbortController();
  readonly #forwarders: readonly EventForwarder[];
  readonly #starting: Promise<unknown>;

  constructor(init: EventReturnInit, { log }: ThreadHost) {
    const opts = this.#opts = unpackOpts("master", init.opts);
    this.#log = log;
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
  }

  #sinks(): EventSink[] {
    const opts = this.#opts, log = this.#log;
    const family = loadFamily<ReturnerContext>(RETURNERS, {
      directories: [`${opts.extension_modules}/returners`],
      warn: (text) => log.warning(text),
    });
    const context: ReturnerContext = {
      opts,
      grains: new Map(),
      pillar: new Map(),
      signal: this.#ending.signal,
      log: (level, message) => log[level](message),
    };
    const events = returnerNames(opts.event_return), returns = returnerNames(opts.master_return);
    for (const name of [...events.refused, ...returns.refused]) log.error(`There is no returner of the name ${name}`);
    return [
      ...events.names.map((name) => eventSink(name, opts, { family, context })),
      ...returns.names.map((name) => returnSink(name, { family, context })),
    ];
  }

  /** Starts one; tries again if the event log cannot be read. */
  async #start(forwarder: EventForwarder): Promise<void> {
    for (let tries = 1; !this.#ending.signal.aborted; tries++) {
      try {
        return await forwarder.start();
      } catch (error) {
        if (tries === 1) this.#log.error(`Returners get no events yet: ${messageOf(error)}`);
        await sleep(RETRY_MS, this.#ending.signal).catch(() => {});
      }
    }
  }

  describe(): string {
    return this.#forwarders.map((forwarder) => forwarder.describe()).join("; ");
  }

  async close(budget: TimeBudget): Promise<void> {
    // Waiting events get their call before calls are told to end.
    const closing = this.#starting.then(() => Promise.all(this.#forwarders.map((forwarder) => forwarder.close())));
    const isDone = await budget.allows(closing);
    this.#ending.abort();
    if (!isDone) await closing;
  }
}

serveThread<EventReturnInit>((init, host) => {
  surviveErrors(host.log);
  noteSockets(init.sockets);
  return Promise.resolve(new EventReturnService(init, host));
});
