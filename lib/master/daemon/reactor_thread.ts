/**
 * The thread of the reactor.
 * @module
 */

import { type ClusterLink, isNewClusterPort } from "#lib/cluster/cluster_messages.ts";
import { LeaseFlags, type LeaseName } from "#lib/cluster/lease_flags.ts";
import { unpackOpts } from "#lib/config/opts_transfer.ts";
import { FunctionRequests } from "#lib/master/functions/requests.ts";
import { findProgress } from "#lib/master/reactor/find_progress.ts";
import type { ReactorLease } from "#lib/master/reactor/leased_journal.ts";
import { Performer } from "#lib/master/reactor/performer.ts";
import { ReactorRuns } from "#lib/master/reactor/reactor_runs.ts";
import { RenderQueue } from "#lib/master/reactor/render_queue.ts";
import type { TimeBudget } from "#lib/os/time_budget.ts";
import { shareJids } from "#lib/protocol/jid.ts";
import { isNewStorePort } from "#lib/stores/remote_rows.ts";
import { serveThread, surviveErrors, type ThreadHost, type ThreadService } from "#lib/runtime/thread.ts";
import { noteSockets } from "#lib/sockets/context.ts";
import { loadEauth } from "#modules/auth/_built_in.ts";
import { BACKENDS } from "#modules/fileserver/_built_in.ts";
import { openServices, type ReactorInit } from "./mworker_services.ts";
import { publishOwn } from "#lib/master/requests/publish.ts";

const LEASE: LeaseName = "reactor";

/** The reactor with the services of the master that it uses. */
class ReactorService implements ThreadService {
  readonly #open: ReturnType<typeof openServices>;
  readonly #functions: FunctionRequests;
  readonly #rendering: RenderQueue;
  readonly #runs: ReactorRuns;

  constructor(init: ReactorInit, host: ThreadHost) {
    const opts = unpackOpts("master", init.opts), { log } = host;
    const open = this.#open = openServices(opts, init, {
      log,
      // Reactions are the master's own: nobody signs in here.
      plugins: { backends: BACKENDS, loadEauth },
      onWait: () => ({ connection: "", release: () => {} }),
      post: host.post,
    });
    const functions = this.#functions = new FunctionRequests(host.post, () => {});
    this.#rendering = new RenderQueue({
      opts: init.opts,
      timeoutMs: opts.reactor_timeout * 1000,
      niceness: opts.reactor_niceness ?? 0,
      log,
    });
    const flags = init.cluster && new LeaseFlags(init.cluster.leases);
    this.#runs = new ReactorRuns({
      opts,
      log,
      ...open.cluster && flags && { lease: leaseOf(open.cluster, () => flags.holds(LEASE)) },
      reactor: () => ({
        opts,
        log,
        rendering: this.#rendering,
        startedMs: init.startedMs,
        progressOf: findProgress(opts, async (jid) => await open.services.jobs.store.getLoad(jid) !== undefined),
        performer: (on) =>
          new Performer({
            ...on,
            user: opts.user,
            publish: async (load, how) => void await publishOwn(load, open.services, how),
            functions,
            running: opts.reactor_worker_threads,
            waiting: opts.reactor_worker_hwm,
          }),
      }),
    });
  }

  describe(): string {
    return this.#runs.describe();
  }

  onMessage(message: unknown): void {
    if (isNewStorePort(message) || isNewClusterPort(message)) this.#open.receive(message);
    else this.#functions.receive(message);
  }

  async close(budget: TimeBudget): Promise<void> {
    await this.#runs.stop();
    await this.#rendering.close(budget);
    await this.#runs.close();
    await this.#open.close(budget);
  }
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
