/**
 * The thread of a master that belongs to a cluster: it has the connections to the cluster's database, gives the signs
 * of life, and does what the masters do for each other, a part for each subject.
 * @module
 */

import { stamp } from "#lib/bus/event.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { ClusterMembers } from "#lib/cluster/cluster_members.ts";
import { clusterOpts } from "#lib/cluster/cluster_opts.ts";
import { isNewClusterPort, serveCluster } from "#lib/cluster/cluster_messages.ts";
import type { ClusterContext, ClusterPart } from "#lib/cluster/cluster_part.ts";
import { RootKeys } from "#lib/cluster/cluster_secrets.ts";
import type { ClusterMembership } from "#lib/cluster/join.ts";
import { eventPart } from "#lib/cluster/event_part.ts";
import { jobPart } from "#lib/cluster/job_part.ts";
import { LeaseFlags } from "#lib/cluster/lease_flags.ts";
import { PostgresCluster } from "#lib/cluster/postgres_cluster.ts";
import { pairPart } from "#lib/cluster/pair_part.ts";
import { publishKeyPart } from "#lib/cluster/publish_key_part.ts";
import { reactorPart } from "#lib/cluster/reactor_part.ts";
import { banksPart } from "#lib/cluster_banks/banks_part.ts";
import { unpackOpts } from "#lib/config/opts_transfer.ts";
import { readOwnPresence } from "#lib/fleet/presence_file.ts";
import { SharedKey } from "#lib/keys/shared_key.ts";
import { serveThread, surviveErrors, type ThreadHost, type ThreadService } from "#lib/runtime/thread.ts";
import { noteSockets } from "#lib/sockets/context.ts";
import type { SharedPlace } from "#lib/sockets/endpoint.ts";
import type { SupervisedInit } from "#lib/sockets/supervised_thread.ts";

/** The data that it starts with. */
export interface ClusterInit extends SupervisedInit {
  /** The master's packed options. */
  readonly opts: Uint8Array;
  /** The address for its events. */
  readonly events: SharedPlace;
  readonly membership: ClusterMembership;
  /** What undelivered jobs are sealed with. */
  readonly jobSecret: string;
  /** The memory of the shared key, which only this thread changes. */
  readonly sharedKey: SharedArrayBuffer;
  /** The memory of the leases. */
  readonly leases: SharedArrayBuffer;
  /** When the master was started, in milliseconds since the epoch. */
  readonly startedMs: number;
  /** Memory of an Int32: the number of records in the outbox. */
  readonly outboxCounter: SharedArrayBuffer;
}

/** The subjects, in the order in which they begin. */
const PARTS: readonly ((context: ClusterContext) => ClusterPart)[] = [
  publishKeyPart,
  pairPart,
  banksPart,
  jobPart,
  eventPart,
  reactorPart,
];

class ClusterService implements ThreadService {
  readonly #host: ThreadHost;
  readonly #database: PostgresCluster;
  readonly #bus: EventSender;
  readonly #members: ClusterMembers;
  readonly #parts: readonly ClusterPart[];

  constructor(init: ClusterInit, host: ThreadHost) {
    const opts = unpackOpts("master", init.opts), { log } = host;
    const { place, waitMs, leaseMs, name } = clusterOpts(opts);
    const { membership } = init;
    const flags = new LeaseFlags(init.leases), outbox = new Int32Array(init.outboxCounter);
    const bus = this.#bus = new EventSender(init.events);
    this.#host = host;
    const database = this.#database = new PostgresCluster({ place, waitMs, leaseMs, log, identity: membership });
    const { address, last, incarnation } = membership;
    this.#members = new ClusterMembers({
      cluster: database,
      flags,
      log,
      applicant: { name, address, leaseMs, last, incarnation },
      facts: () => ({ minions: readOwnPresence(opts.cachedir).present.size, outbox: Atomics.load(outbox, 0) }),
    });
    const context: ClusterContext = {
      opts,
      log,
      startedMs: init.startedMs,
      database,
      keys: new RootKeys(membership.root),
      flags,
      membership,
      jobSecret: init.jobSecret,
      sharedKey: new SharedKey(init.sharedKey),
      fire: (tag, data) => bus.fireOrLog(tag, stamp(data), log),
      post: (message) => host.post(message),
    };
    this.#parts = PARTS.map((make) => make(context));
  }

  describe(): string {
    const { peers, away } = this.#database, { held } = this.#members;
    const names = [...peers.values()];
    const others = names.length === 0 ? "no other master lives" : `with ${names.join(", ")}`;
    return `${away ? "the database is away" : others}; ${held.length === 0 ? "no lease" : `holds ${held.join(", ")}`}`;
  }

  /** A thread, or its successor, has a new port. */
  onMessage(message: unknown): void {
    const handlers = Object.assign({}, ...this.#parts.map(({ handlers }) => handlers));
    if (isNewClusterPort(message)) serveCluster(handlers, message.clusterPort);
  }

  async close(): Promise<void> {
    for (const part of this.#parts.toReversed()) {
      await part.close?.().catch((error) => this.#host.log.error(`The cluster: ${error}`));
    }
    await this.#members.close();
    await this.#database.close();
    this.#bus.close();
  }
}

serveThread<ClusterInit>((init, host) => {
  surviveErrors(host.log);
  noteSockets(init.sockets);
  return Promise.resolve(new ClusterService(init, host));
});
