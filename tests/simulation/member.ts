/**
 * A simulated master's part of its cluster: the real log of publishes, exchange of events, keys of minions, place of
 * the reactor, signs of life, leases and outbox, over the model of the database.
 * @module
 */

import { masterBus } from "#lib/bus/paths.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { ClusterMembers } from "#lib/cluster/cluster_members.ts";
import { RootKeys } from "#lib/cluster/cluster_secrets.ts";
import { EventExchange } from "#lib/cluster/event_exchange.ts";
import { LeaseFlags, type LeaseName, LEASES } from "#lib/cluster/lease_flags.ts";
import { PublishLog } from "#lib/cluster/publish_log.ts";
import { reactorPart } from "#lib/cluster/reactor_part.ts";
import { SharedState } from "#lib/cluster_banks/shared_state.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { PrivateKey } from "#lib/crypto/rsa.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { clusterDirectory, eventLogDirectory, publishPullPath } from "#lib/config/master_paths.ts";
import type { JobStore } from "#lib/jobs/store.ts";
import type { ReactorLease } from "#lib/master/reactor/leased_journal.ts";
import { UndeliveredJobs } from "#lib/jobs/undelivered.ts";
import type { SharedKey } from "#lib/keys/shared_key.ts";
import type { MasterServices } from "#lib/master/requests/services.ts";
import { readMoment } from "#lib/os/moment.ts";
import { sleep } from "#lib/os/sleep.ts";
import { setInterval } from "#lib/os/timers.ts";
import { Outbox } from "#lib/sockets/endpoint.ts";
import { openJobStore } from "#lib/stores/open_store.ts";
import { OutboxRows } from "#lib/stores/outbox_rows.ts";
import { outboxDirectory, RecordOutbox } from "#lib/stores/record_outbox.ts";
import { DatabaseAwayError } from "#lib/stores/postgres_connection.ts";
import type { JobRows } from "#lib/stores/rows.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, str } from "#lib/values/value.ts";
import { ModelCluster, type ModelDatabase } from "./database.ts";

/** What the masters of a cluster share. */
export interface ClusterParts {
  readonly database: ModelDatabase;
  /** This master's number. */
  readonly origin: number;
  readonly root: Uint8Array;
  /** The publish key of all masters. */
  readonly sharedKey: SharedKey;
  /** Called with each new job of another master. */
  onPush(jid: string): void;
  /** Called often, with whether this master holds each lease. */
  onLease(name: LeaseName, holds: boolean): void;
}

/** Rows of publishes that are read at once: so few that there is more than one page. */
const MOST_ROWS = 3;
/** How often rows that are over are removed, in milliseconds. */
const CLEAN_MS = 60_000;
/** How often a master looks at its leases, in milliseconds. */
const LOOK_MS = 250;
/** Pause before the exchange of events is begun again, in milliseconds. */
const RETRY_MS = 1_000;

/** One master of a cluster. */
export class SimulatedMember {
  readonly store: JobStore;
  readonly flags = new LeaseFlags();
  readonly #rows: JobRows;
  readonly #publishes: PublishLog;
  readonly #exchange: EventExchange;
  readonly #state: SharedState;
  /** Where the reactor of the cluster is. */
  readonly reactorLease: ReactorLease;

  /** Joins, in the current process. */
  constructor(
    { database, origin, root, onLease, onPush }: ClusterParts,
    { opts, key, log }: { readonly opts: MasterOpts; readonly key: PrivateKey; readonly log: Logger },
  ) {
    const leaseMs = opts.cluster_lease * 1000;
    const cluster = new ModelCluster(database, { origin, name: opts.id, leaseMs, waitMs: opts.job_store_wait * 1000 });
    const { incarnation } = cluster;
    new ClusterMembers({
      cluster,
      flags: this.flags,
      log,
      applicant: { name: opts.id, address: opts.interface, leaseMs, last: undefined, incarnation },
      facts: () => ({ minions: 0, outbox: 0 }),
    });
    setInterval(() => LEASES.forEach((name) => onLease(name, this.flags.holds(name))), LOOK_MS);
    const outbox = new RecordOutbox({
      directory: outboxDirectory(opts),
      maxBytes: opts.outbox_max_bytes,
      log: log.error,
    });
    const probe = () => database.call(() => {});
    const rows = new OutboxRows({ rows: database.rows, probe, outbox, log, onChange: () => {} });
    rows.start();
    this.#rows = rows;
    this.store = openJobStore(opts, { log: log.error, rows });
    const publisher = Outbox.push({ highWaterMark: 0 });
    publisher.connect(`ipc://${publishPullPath(opts.sock_dir)}`);
    this.#publishes = new PublishLog({
      database: cluster,
      keys: new RootKeys(root),
      log,
      mostRows: MOST_ROWS,
      pending: () => new UndeliveredJobs(opts.cachedir, key.pem).pending(readMoment()),
      async push({ load, minions, ttlMs, live }, again) {
        if (!again) onPush(str(load.get("jid") ?? ""));
        await publisher.send([encode(map({ load, minions: [...minions], ttl_ms: ttlMs, live, again }), "disk")]);
      },
    });
    const maintains = () => this.flags.holds("maintenance");
    this.#state = new SharedState(opts, { db: cluster, keys: new RootKeys(root), log, maintains });
    // As jobPart does (lib/cluster/job_part.ts).
    setInterval(() => {
      if (cluster.away || !maintains()) return;
      this.#publishes.clean().catch((error) => {
        if (!(error instanceof DatabaseAwayError)) throw error;
      });
    }, CLEAN_MS);
    this.reactorLease = leaseOf(cluster, this.flags);
    const bus = new EventSender(masterBus(opts.sock_dir).pull);
    this.#exchange = new EventExchange({
      database: cluster,
      paths: masterBus(opts.sock_dir),
      logDirectory: eventLogDirectory(opts.cachedir),
      directory: clusterDirectory(opts.cachedir),
      startedMs: Date.now(),
      log,
      fire: (frame) => bus.firePacked(frame),
    });
  }

  /** Follows the other masters, when this one can publish. */
  open(): void {
    this.#publishes.open();
    this.#state.start();
    void this.#exchangeEvents();
  }

  /** The Publisher is a new one. */
  takeUpAgain(): void {
    this.#publishes.takeUpAgain().catch((error) => {
      if (!(error instanceof DatabaseAwayError)) throw error;
    });
  }

  /** As eventPart does (lib/cluster/event_part.ts). */
  async #exchangeEvents(): Promise<void> {
    for (;;) {
      try {
        return await this.#exchange.open();
      } catch (error) {
        if (!(error instanceof DatabaseAwayError)) throw error;
        await sleep(RETRY_MS);
      }
    }
  }

  /** The services of a master with the jobs of the cluster. */
  within(services: MasterServices): MasterServices {
    const share: MasterServices["jobs"]["share"] = async (load, { minions, ttlMs, live }) => {
      await this.#publishes.add({ jid: str(load.get("jid") ?? ""), load, minions, ttlMs, live });
    };
    return { ...services, jobs: { ...services.jobs, store: this.store, rows: this.#rows, share } };
  }
}

/** The row of the lease, as the reactor's thread asks the Cluster thread for it. */
function leaseOf(database: ModelCluster, flags: LeaseFlags): ReactorLease {
  const { handlers: { reactorPosition, reactorTake } = {} } = reactorPart({ database });
  if (reactorPosition === undefined || reactorTake === undefined) throw new Error("The reactor has no row");
  return {
    holds: () => flags.holds("reactor"),
    async read() {
      const position = await reactorPosition(null);
      return position instanceof Uint8Array ? position : null;
    },
    write: async (position) => await reactorTake(position) === true,
  };
}
