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
import { SimulatedBus } from "./bus.ts";
import { type ClusterParts, SimulatedMember } from "./member.ts";
import { type Connection, network } from "#tests/simulation/world/network.ts";
import { PublishSocket } from "#tests/simulation/world/publish_socket.ts";
import { startReactor } from "./reactor.ts";
import { type SimulatedProcess, world } from "#tests/simulation/world/world.ts";
import { BACKENDS } from "#modules/fileserver/_built_in.ts";
import { loadEauth } from "#modules/auth/_built_in.ts";
import { ownConnection } from "#tests/support/fleet/attempts.ts";

const PUBLISH_PORT = 4505;
/** As a real master numbers the events of a cluster. */
const EVENTS_PER_MS = 100;

/** What a master is started with. */
export interface MasterParts {
  readonly process: SimulatedProcess;
  readonly opts: MasterOpts;
  readonly key: PrivateKey;
  readonly log: Logger;
  /** Called with the number of an order and the id of its job, before the reactor publishes that. */
  onOrder(order: number, jid: string): void;
  /** What it shares with the other masters of its cluster, if it has one. */
  readonly cluster?: ClusterParts;
}

/** A running master. */
export class SimulatedMaster {
  readonly #parts: MasterParts;
  readonly #sharedKey: SharedKey;
  /** Its part of the cluster. */
  readonly member: SimulatedMember | undefined;
  readonly #publishing: PublishSocket;

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
    const sessions = openSessions(opts, { sessions: own.memory, cluster });
    const host = opts.interface === "0.0.0.0" ? "127.0.0.1" : opts.interface;
    const events = { context: 0n, address: `inproc://${process.name}/events` };
    const bus = new SimulatedBus({
      process,
      opts,
      log,
      events: events.address,
      ...cluster && { firstNumber: Date.now() * EVENTS_PER_MS },
      onEvent: (frame) => unpackMatching(frame, (tag) => (delivery.jobs.noteEvent(tag), false)),
    });
    const delivery = this.#openDelivery(sessions, { socket: () => this.#publishing, bus });
    this.#publishing = delivery.socket;
    network().listen(`ipc://${publishPullPath(opts.sock_dir)}`, {
      process,
      receive: ([frame]) => void delivery.jobs.deliver(frame),
    });
    network().listen(`tcp://${host}:${PUBLISH_PORT}`, delivery.socket);
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
    network().listen(`tcp://${host}:4506`, {
      process,
      receive: ([frame], connection) => void answer(requests, frame, connection),
    });
    startReactor({ opts, log, services: all, lease: this.member?.reactorLease, onOrder: parts.onOrder });
  }

  #openDelivery(sessions: MinionSessions, { socket, bus }: { socket(): PublishSocket; readonly bus: SimulatedBus }) {
    const { process, opts, key, log } = this.#parts;
    const book = new PresenceBook({
      sessionKeys: (id) => sessions.crypticles(id).map(({ keyString }) => keyString),
      sharedKey: () => this.#sharedKey.text,
    });
    const isNumbered = this.member === undefined;
    const sealer = new PublishSealer(opts, { sharedKey: this.#sharedKey, masterKeys: { current: key }, isNumbered });
    const jobs: JobDelivery = new JobDelivery({
      jobs: this.member?.store ?? openJobStore(opts, { log: log.error }),
      undelivered: new UndeliveredJobs(opts.cachedir, key.pem),
      log,
      isPresent: (id) => book.since.has(id),
      publish: (load) => Promise.resolve(socket().publish(sealer.seal(load))),
    });
    void jobs.takeUp();
    this.member?.open();
    const presence = new PresenceReports({
      cachedir: opts.cachedir,
      book,
      log,
      fire: (tag, data) => Promise.resolve(bus.publish(packEvent(tag, data))),
      onArrivals: (ids) => jobs.arrived(ids),
    });
    return { jobs, socket: new PublishSocket(process, { onSubscription: (frame) => presence.receive(frame) }) };
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
