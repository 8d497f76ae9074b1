/**
 * The thread of the reactor.
 * @module
 */

import { type ClusterLink, isNewClusterPort } from "#lib/cluster/cluster_messages.ts";
import { LeaseFlags, type LeaseName } from "#lib/cluster/lease_flags.ts";
import { unpackOpts } from "#lib/config/opts_transfer.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { messageOf } from "#lib/errors.ts";
import { FunctionRequests } from "#lib/master/functions/requests.ts";
import { findStarted } from "#lib/master/reactor/find_started.ts";
import { LeasedJournal, type ReactorLease } from "#lib/master/reactor/leased_journal.ts";
import { Performer } from "#lib/master/reactor/performer.ts";
import { Reactor } from "#lib/master/reactor/reactor.ts";
import { RenderQueue } from "#lib/master/reactor/render_queue.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { TimeBudget } from "#lib/os/time_budget.ts";
import { shareJids } from "#lib/protocol/jid.ts";
import { isNewStorePort } from "#lib/stores/remote_rows.ts";
import { serveThread, surviveErrors, type ThreadHost, type ThreadService } from "#lib/runtime/thread.ts";
import { noteSockets } from "#lib/sockets/context.ts";
import { loadEauth } from "#modules/auth/_built_in.ts";
import { BACKENDS } from "#modules/fileserver/_built_in.ts";
import { openServices, type ReactorInit } from "./mworker_services.ts";
import { publishOwn } from "#lib/master/requests/publish.ts";

/** Pause before another try to start, in milliseconds. */
const RETRY_MS = 5_000;

/** Interval of looks at the lease, in milliseconds. */
const LOOK_MS = 200;
const LEASE: LeaseName = "reactor";

/** The reactor with the services of the master that it uses. */
class ReactorService implements ThreadService {
  readonly #opts: MasterOpts;
  readonly #host: ThreadHost;
  readonly #open: ReturnType<typeof openServices>;
  readonly #functions: FunctionRequests;
  readonly #rendering: RenderQueue;
  readonly #ending = new AbortController();
  readonly #startedMs: number;
  readonly #flags: LeaseFlags | undefined;
  readonly #running: Promise<void>;
  #reactor: Reactor | undefined;

  constructor(init: ReactorInit, host: ThreadHost) {
    const opts = this.#opts = unpackOpts("master", init.opts);
    this.#host = host;
    this.#startedMs = init.startedMs;
    this.#open = openServices(opts, init, {
      log: host.log,
      // Reactions are the master's own: nobody signs in here.
      plugins: { backends: BACKENDS, loadEauth },
      onWait: () => ({ connection: "", release: () => {} }),
      post: host.post,
    });
    this.#functions = new FunctionRequests(host.post, () => {});
    this.#rendering = new RenderQueue({
      opts: init.opts,
      timeoutMs: opts.reactor_timeout * 1000,
      niceness: opts.reactor_niceness ?? 0,
      log: host.log,
    });
    this.#flags = init.cluster && new LeaseFlags(init.cluster.leases);
    this.#running = this.#run();
  }

  /** In a cluster the reactor runs while this master holds the lease. */
  async #run(): Promise<void> {
    const { signal } = this.#ending, flags = this.#flags;
    if (flags === undefined) return await this.#start(() => true);
    const holds = () => flags.holds(LEASE);
    while (!signal.aborted) {
      if (holds()) {
        await this.#start(holds);
        const reactor = this.#reactor, stopped = reactor?.stopped.then(() => true);
        while (reactor !== undefined && holds() && !signal.aborted) {
          if (await Promise.race([stopped, pause(signal)])) break;
        }
        if (signal.aborted) return; // it is closed with the rest
        await reactor?.close();
        this.#reactor = undefined;
      }
      await pause(signal);
    }
  }

  /** Starts the reactor; tries again if its files or the event log cannot be read. */
  async #start(isToRun: () => boolean): Promise<void> {
    const { log } = this.#host, { cluster } = this.#open;
    for (let tries = 1; !this.#ending.signal.aborted && isToRun(); tries++) {
      try {
        const journal = cluster && await LeasedJournal.open(this.#opts.id, leaseOf(cluster, isToRun));
        this.#reactor = await Reactor.start({
          opts: this.#opts,
          log,
          rendering: this.#rendering,
          startedMs: this.#startedMs,
          ...journal && { journal },
          wasStarted: findStarted(
            this.#opts,
            async (jid) => await this.#open.services.jobs.store.getLoad(jid) !== undefined,
          ),
          performer: (on) =>
            new Performer({
              ...on,
              user: this.#opts.user,
              publish: async (load) => void await publishOwn(load, this.#open.services),
              functions: this.#functions,
              running: this.#opts.reactor_worker_threads,
              waiting: this.#opts.reactor_worker_hwm,
            }),
        });
        return;
      } catch (error) {
        if (tries === 1) log.error(`The reactor cannot be started, and is tried again: ${messageOf(error)}`);
        await sleep(RETRY_MS, this.#ending.signal).catch(() => {});
      }
    }
  }

  describe(): string {
    const idle = this.#flags === undefined ? "starting" : "another master of the cluster reacts";
    return this.#reactor?.describe() ?? idle;
  }

  onMessage(message: unknown): void {
    if (isNewStorePort(message) || isNewClusterPort(message)) this.#open.receive(message);
    else this.#functions.receive(message);
  }

  async close(budget: TimeBudget): Promise<void> {
    this.#ending.abort();
    await this.#running;
    await this.#rendering.close(budget);
    await this.#reactor?.close();
    await this.#open.close(budget);
  }
}

function pause(signal: AbortSignal): Promise<false> {
  return sleep(LOOK_MS, signal).then(() => false as const, () => false as const);
}

/** The row of the lease, behind the Cluster thread. */
function leaseOf(cluster: ClusterLink, holds: () => boolean): ReactorLease {
  return {
    holds,
    async read() {
      const position = await cluster.ask("reactorPosition", null);
      return position instanceof Uint8Array ? position : null;
    },
    write: async (position) => await cluster.ask("reactorTake", position) === true,
  };
}

serveThread<ReactorInit>((init, host) => {
  surviveErrors(host.log);
  noteSockets(init.sockets);
  shareJids(init.jids);
  return Promise.resolve(new ReactorService(init, host));
});
