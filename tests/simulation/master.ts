/**
 * A simulated master: the real services and handlers of requests, delivery of jobs, presence, job store and reactor, in
 * one process of the world.
 * @module
 */

import { createAccessKeys } from "#lib/auth/access.ts";
import { packEvent, unpackMatching } from "#lib/bus/event.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { publishPullPath } from "#lib/config/master_paths.ts";
import type { PrivateKey } from "#lib/crypto/rsa.ts";
import { PresenceBook } from "#lib/fleet/presence.ts";
import { FiredReturns } from "#lib/jobs/fired_returns.ts";
import { openJobStore } from "#lib/stores/open_store.ts";
import { UndeliveredJobs } from "#lib/jobs/undelivered.ts";
import { LeaseFlags } from "#lib/cluster/lease_flags.ts";
import { openSessions } from "#lib/keys/open_sessions.ts";
import { type MinionSessions, SessionKeys } from "#lib/keys/sessions.ts";
import { SharedKey } from "#lib/keys/shared_key.ts";
import { VerifiedTokens } from "#lib/keys/verified_tokens.ts";
import { KeyRotation } from "#lib/master/daemon/key_rotation.ts";
import { sleep } from "#lib/os/sleep.ts";
import { restoreFromJournal } from "#lib/master/daemon/journal.ts";
import { openServices } from "#lib/master/daemon/mworker_services.ts";
import { JobDelivery } from "#lib/master/publisher/delivery.ts";
import { PresenceReports } from "#lib/master/publisher/presence_reports.ts";
import { PublishSealer } from "#lib/master/publisher/publish_sealer.ts";
import { rateMemory } from "#lib/master/requests/rate_limit.ts";
import { RequestHandler } from "#lib/master/requests/request_handler.ts";
import { signInMemory } from "#lib/master/requests/sign_in_turns.ts";
import { jidMemory, shareJids } from "#lib/protocol/jid.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { ValueMap } from "#lib/values/value.ts";
import { SimulatedBus } from "./bus.ts";
import { type ClusterParts, SimulatedMember } from "./member.ts";
import { type Connection, network } from "#tests/simulation/world/network.ts";
import type { Published } from "./publish_check.ts";
import { PublishSocket } from "#tests/simulation/world/publish_socket.ts";
import { startReactor } from "./reactor.ts";
import { type SimulatedProcess, world } from "#tests/simulation/world/world.ts";
import { BACKENDS } from "#modules/fileserver/_built_in.ts";
import { loadEauth } from "#modules/auth/_built_in.ts";
import { ownConnection } from "#tests/support/fleet/attempts.ts";

const PUBLISH_PORT = 4505;
/** As a real master numbers the events of a cluster. */
const EVENTS_PER_MS = 100;

/** How often a publish is lost, if one is. */
const LOST = 0.5;

/** Longer than it takes from the announcement of a key to its use, in milliseconds. */
const ANNOUNCED_MS = 3_200;

/** What a master is started with. */
export interface MasterParts {
  readonly process: SimulatedProcess;
  readonly opts: MasterOpts;
  readonly key: PrivateKey;
  readonly log: Logger;
  /** Called with the number of an order and the id of its job, before the reactor publishes that. */
  onOrder(order: number, jid: string): void;
  /** Called with each publish, before it is sent. */
  onPublish(published: Published): void;
  /** Called with minions that have just connected. */
  onArrivals(ids: readonly string[]): void;
  /** What it shares with the other masters of its cluster, if it has one. */
  readonly cluster?: ClusterParts;
}

/** A running master. */
export class SimulatedMaster {
  readonly #parts: MasterParts;
  readonly #sharedKey: SharedKey;
  /** Its part of the cluster. */
  readonly member: SimulatedMember | undefined;
  readonly #sealer: PublishSealer;
  readonly #sessions: MinionSessions;
  readonly #bus: SimulatedBus;
  #publishing: PublishSocket;
  #delivery: JobDelivery;

  /** Starts it, in the current process, when what the last one left in its journal is restored. */
  static async start(parts: MasterParts): Promise<SimulatedMaster> {
    await restoreFromJournal(parts.opts, parts.key.pem, parts.log);
    return new SimulatedMaster(parts);
  }

  private constructor(parts: MasterParts) {
    const { process, opts, key, log, cluster } = this.#parts = parts;
    this.#sharedKey = cluster?.sharedKey ?? new SharedKey();
    this.member = cluster && new SimulatedMember(cluster, { opts, key, log });
    // A new process has made no job id yet. Masters of a cluster never make the same: here they count together.
    if (cluster === undefined) shareJids(jidMemory());
    const own = new SessionKeys(opts.cachedir, opts.publish_session * 1000);
    this.#sessions = openSessions(opts, { sessions: own.memory, cluster });
    const events = { context: 0n, address: `inproc://${process.name}/events` };
    const isNumbered = cluster === undefined;
    this.#sealer = new PublishSealer(opts, { sharedKey: this.#sharedKey, masterKeys: { current: key }, isNumbered });
    this.#bus = new SimulatedBus({
      process,
      opts,
      log,
      events: events.address,
      ...cluster && { firstNumber: Date.now() * EVENTS_PER_MS },
      onEvent: (frame) => unpackMatching(frame, (tag) => (this.#delivery.noteEvent(tag), false)),
    });
    [this.#delivery, this.#publishing] = this.#openPublisher();
    void this.#delivery.takeUp();
    this.member?.open();
    network().listen(`ipc://${publishPullPath(opts.sock_dir)}`, {
      process,
      receive: ([frame]) => void this.#delivery.deliver(frame),
    });
    const { services } = openServices(opts, {
      sharedKey: this.#sharedKey.memory,
      sessions: own.memory,
      ...cluster && { cluster: { origin: cluster.origin, root: cluster.root, leases: new LeaseFlags().memory } },
      verified: new VerifiedTokens().memory,
      fired: new FiredReturns().memory,
      signInLimit: rateMemory(),
      signIns: { turns: signInMemory(), others: rateMemory() },
      events,
      masterPem: key.pem,
      jobSecret: key.pem,
      publishPort: PUBLISH_PORT,
      accessKeys: createAccessKeys(opts.cachedir, ["root"]),
      owner: "root",
    }, { log, plugins: { backends: BACKENDS, loadEauth }, onWait: ownConnection, post: () => {} });
    const all = this.member?.within(services) ?? services;
    const requests = new RequestHandler(all);
    network().listen(`tcp://${this.#host}:4506`, {
      process,
      receive: ([frame], connection) => void answer(requests, frame, connection),
    });
    startReactor({ opts, log, services: all, lease: this.member?.reactorLease, onOrder: parts.onOrder });
  }

  /** Number of jobs with acknowledgements missing. */
  get pending(): number {
    return this.#delivery.size;
  }

  /** What the Publisher has: the delivery of jobs, presence, and the socket. */
  #openPublisher(): [JobDelivery, PublishSocket] {
    const { process, opts, key, log } = this.#parts;
    const book = new PresenceBook({
      sessionKeys: (id) => this.#sessions.crypticles(id).map(({ keyString }) => keyString),
      sharedKey: () => this.#sharedKey.text,
    });
    const jobs: JobDelivery = new JobDelivery({
      jobs: this.member?.store ?? openJobStore(opts, { log: log.error }),
      undelivered: new UndeliveredJobs(opts.cachedir, key.pem),
      log,
      isPresent: (id) => book.since.has(id),
      publish: (load) => Promise.resolve(this.publish(load)),
    });
    const presence = new PresenceReports({
      cachedir: opts.cachedir,
      book,
      log,
      fire: (tag, data) => Promise.resolve(this.#bus.publish(packEvent(tag, data))),
      onArrivals: (ids) => {
        this.#parts.onArrivals(ids);
        return jobs.arrived(ids);
      },
    });
    const socket = new PublishSocket(process, { onSubscription: (frame) => presence.receive(frame) });
    network().listen(`tcp://${this.#host}:${PUBLISH_PORT}`, socket);
    return [jobs, socket];
  }

  /** Its Publisher dies, and another one takes its place. */
  renewPublisher(): void {
    world().note("the Publisher is a new one");
    this.#delivery.close();
    this.#publishing.close();
    [this.#delivery, this.#publishing] = this.#openPublisher();
    void this.#delivery.takeUp();
    this.member?.takeUpAgain();
  }

  get #host(): string {
    const { interface: address } = this.#parts.opts;
    return address === "0.0.0.0" ? "127.0.0.1" : address;
  }

  /** Seals and publishes a load. */
  publish(load: ValueMap): void {
    const frame = this.#sealer.seal(load);
    this.#parts.onPublish({ load, frame, sharedKey: this.#sharedKey.text, process: this.#parts.process });
    this.#publishing.publish(frame);
  }

  /** Sends a frame as it is to everybody who listens. */
  send(frame: Uint8Array): void {
    this.#publishing.publish(frame);
  }

  /** The next publish does not reach some minions. */
  losePublish(): void {
    this.#publishing.loseNext(LOST);
  }

  /** The current shared key. */
  get sharedKey(): SharedKey {
    return this.#sharedKey;
  }

  /** Announces a new shared key, and uses it after some seconds. */
  async announceAndRotate(): Promise<void> {
    const { opts, log } = this.#parts;
    const rotation = new KeyRotation({ opts, log, sharedKey: this.#sharedKey, fire: () => Promise.resolve() });
    rotation.rotate("a key was deleted or rejected");
    await sleep(ANNOUNCED_MS);
  }

  /** Makes a new shared key, as the master does at an interval and when a key was deleted. */
  rotate(): void {
    world().note("the shared key is rotated");
    this.#sharedKey.rotate();
  }
}

async function answer(requests: RequestHandler, frame: Uint8Array, connection: Connection): Promise<void> {
  const reply = await requests.handle(frame);
  if (reply.length > 0) connection.answer([reply]);
}
