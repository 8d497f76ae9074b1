/**
 * The main thread's side of a cluster: joins it, and gives every thread what it needs of it. Loaded only by a master
 * that belongs to one.
 * @module
 */

import { type ClusterMembership, joinCluster } from "#lib/cluster/join.ts";
import { ClusterLink, type NewClusterPort } from "#lib/cluster/cluster_messages.ts";
import { LeaseFlags } from "#lib/cluster/lease_flags.ts";
import { isKeyTaken } from "#lib/cluster/publish_key_part.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { SharedKey } from "#lib/keys/shared_key.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { type PortPost, ThreadPorts } from "#lib/runtime/thread_ports.ts";
import type { SharedPlace } from "#lib/sockets/endpoint.ts";
import type { SupervisedThread, SupervisedThreadOptions } from "#lib/sockets/supervised_thread.ts";
import type { ClusterInit } from "./cluster_thread.ts";

/** What the other threads need of the cluster. Survives structured clone. */
export interface ThreadCluster {
  /** This master's number. */
  readonly origin: number;
  /** The root of the cluster's keys. */
  readonly root: Uint8Array;
  /** The memory of the leases. */
  readonly leases: SharedArrayBuffer;
}

/** What the Cluster thread is started with. */
export interface ClusterStart {
  readonly opts: Uint8Array;
  readonly events: SharedPlace;
  /** What undelivered jobs are sealed with. */
  readonly jobSecret: string;
  /** Starts and supervises a thread of the master. */
  keep(
    name: string,
    url: URL,
    options: Pick<SupervisedThreadOptions<ClusterInit>, "init" | "onMessage" | "onSuccessor">,
  ): SupervisedThread<ClusterInit>;
  /** Called when this master publishes with another key than before. */
  onKeyTaken(): void;
}

/** The name of the thread. */
export const CLUSTER = "Cluster";

/** One master's part of a cluster. */
export class MasterCluster {
  /** The leases that this master holds. */
  readonly flags = new LeaseFlags();
  /** Memory of an Int32: the number of records in the outbox. */
  readonly outboxCounter = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  readonly #membership: ClusterMembership;
  readonly #sharedKey: SharedKey;
  readonly #startedMs = Date.now();
  #ports: ThreadPorts<NewClusterPort> | undefined;
  #link: ClusterLink | undefined;
  /** When the publish key was made, in milliseconds since the epoch. */
  #keyMadeMs: number;

  private constructor(membership: ClusterMembership, sharedKey: SharedKey) {
    this.#membership = membership;
    this.#sharedKey = sharedKey;
    this.#keyMadeMs = membership.publish?.madeMs ?? Date.now();
    if (membership.publish !== undefined) sharedKey.set(membership.publish.text);
  }

  /**
   * Joins the cluster that the options name.
   * @throws {PreflightError} If this master cannot.
   */
  static async join(opts: MasterOpts, sharedKey: SharedKey, log: Logger): Promise<MasterCluster> {
    return new MasterCluster(await joinCluster(opts, log), sharedKey);
  }

  /** For the threads that start. */
  get forThreads(): ThreadCluster {
    const { origin, root } = this.#membership;
    return { origin, root, leases: this.flags.memory };
  }

  /** Starts the Cluster thread. */
  async start({ opts, events, jobSecret, keep, onKeyTaken }: ClusterStart): Promise<SupervisedThread<ClusterInit>> {
    const init = {
      opts,
      events,
      jobSecret,
      membership: this.#membership,
      sharedKey: this.#sharedKey.memory,
      leases: this.flags.memory,
      startedMs: this.#startedMs,
      outboxCounter: this.outboxCounter,
    };
    const thread = keep(CLUSTER, new URL("./cluster_thread.ts", import.meta.url), {
      init: () => init,
      onSuccessor: () => this.#ports?.replaced(),
      onMessage: (message) => {
        if (isKeyTaken(message)) {
          this.#keyMadeMs = message.keyTaken.madeMs;
          onKeyTaken();
        }
      },
    });
    const ports = this.#ports = new ThreadPorts<NewClusterPort>(
      (message, transfer) => thread.post(message, transfer),
      (clusterPort) => ({ clusterPort }),
    );
    await thread.ready;
    this.#link = new ClusterLink(ports.openFor("main", ({ clusterPort }) => this.#link?.moveTo(clusterPort)));
    return thread;
  }

  /** A port to the Cluster thread, for a thread that starts. */
  openFor(name: string, post: PortPost<NewClusterPort>): MessagePort | undefined {
    return this.#ports?.openFor(name, post);
  }

  /** The Publisher is a new one: it gets the jobs that are not over. */
  async publisherReplaced(): Promise<void> {
    await this.#link?.ask("publisherReplaced", null);
  }

  /** When the publish key was made, in milliseconds since the epoch: for the master that may make a new one. */
  get keyMadeMs(): number {
    // The others never find it too old.
    return this.flags.holds("maintenance") ? this.#keyMadeMs : Date.now();
  }

  /**
   * Has a new publish key made for all masters.
   * @throws {ClusterError} If the database is away.
   */
  async rotate(reason: string): Promise<void> {
    await this.#link?.ask("rotate", reason);
  }

  /** Closes its way to the Cluster thread. */
  close(): void {
    this.#link?.close();
  }
}
