/**
 * The Publisher, behind port 4505: takes loads from the MWorkers, numbers, encrypts and signs them, and publishes.
 *
 * There is one, in a separate thread (publisher_thread.ts), because minions refuse a serial that is not above the last
 * one: with several threads, two jobs could overtake each other on their way to the PUB socket, and the slower one
 * would be lost. Therefore it also reports presence (presence_reports.ts) and publishes missed jobs again
 * (delivery.ts).
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { connectionLimits } from "#lib/config/connection_limits.ts";
import { Subscribed } from "#lib/sockets/connection_memory.ts";
import { ConnectionLimiter } from "#lib/sockets/connection_limiter.ts";
import { jobPrefix, jobReturn, jobTurn } from "#lib/protocol/tags.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { isNewStorePort, RemoteRows } from "#lib/stores/remote_rows.ts";
import { JobDelivery } from "./delivery.ts";
import type { JobTurn, Pace } from "./paced_jobs.ts";
import { LeaseFlags } from "#lib/cluster/lease_flags.ts";
import { AddressPresence } from "#lib/fleet/connected_ids.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { type FlowMemory, openRunningPlaces } from "#lib/flow/open_flow.ts";
import { stamp } from "#lib/bus/event.ts";
import { map, str, type ValueMap } from "#lib/values/value.ts";
import { masterBus, removeSocketFile } from "#lib/bus/paths.ts";
import { openJobStore } from "#lib/stores/open_store.ts";
import type { ThreadCluster } from "#lib/master/cluster/master_cluster.ts";
import { publishPullPath } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { PresenceBook } from "#lib/fleet/presence.ts";
import { readPeersPresence } from "#lib/fleet/presence_file.ts";
import { masterJournal } from "#lib/jobs/open_journal.ts";
import { RememberedValue } from "#lib/runtime/remembered_value.ts";
import type { Journal } from "#lib/os/journal.ts";
import { PresenceReports } from "./presence_reports.ts";
import { PublishSealer } from "./publish_sealer.ts";
import { publishTopics } from "./topics.ts";
import { tcpAddress } from "#lib/sockets/request_channel.ts";
import { openSessions } from "#lib/keys/open_sessions.ts";
import { MasterPairs } from "#lib/keys/master_pairs.ts";
import { SharedKey } from "#lib/keys/shared_key.ts";
import { MANY_SUBSCRIBERS, PROBES } from "#lib/sockets/settings.ts";
import { Inbox } from "#lib/sockets/endpoint.ts";
import { SharedPort } from "#lib/sockets/shared_port.ts";
import { KeyStore } from "#lib/keys/store.ts";
import type { ThreadHost, ThreadService } from "#lib/runtime/thread.ts";
import { parseMemoryMessage, type PublisherReady } from "./publisher_messages.ts";
import { UndeliveredJobs } from "#lib/jobs/undelivered.ts";

/** The parts of the Publisher besides the master's options. */
export interface PublisherParts {
  /** The memory of the shared key. */
  readonly sharedKey: SharedArrayBuffer;
  /** The memory of session keys. */
  readonly sessions: SharedArrayBuffer;
  /** The master's private key, for signing. */
  readonly masterPem: string;
  /** What undelivered jobs are sealed with. */
  readonly jobSecret: string;
  /** The way to the database of jobs, if they are in one. */
  readonly storePort?: MessagePort;
  /** What belongs to the cluster, if the master is in one. */
  readonly cluster?: ThreadCluster;
  /** The way to the Cluster thread. */
  readonly clusterPort?: MessagePort;
  /** What all threads share for the rules of `flow`. */
  readonly flow?: FlowMemory;
}

/** Maximum bytes of a subscriber's message; a topic has about a hundred. */
const MAX_SUBSCRIPTION = 4_096;
/** Maximum bytes of all subscribers' messages beyond what minions normally send. */
const MAX_SUBSCRIBED = 4_194_304;
/** Pause after all acknowledgements were read; far shorter than an acknowledgement may take. In milliseconds. */
const REST_MS = 20;

/** How long the minions of other masters are remembered before their file is read again, in milliseconds. */
const OTHERS_MS = 500;

/** Subscribers of a socket, and sockets at most: see {@linkcode SharedPort}. */
const SUBSCRIBERS = 250, MAX_SOCKETS = 32;

const encoder = new TextEncoder();

/** The number of sockets of the publish port for so many accepted keys. */
function socketsFor(keys: number): number {
  return Math.min(MAX_SOCKETS, Math.max(1, Math.ceil(keys / SUBSCRIBERS)));
}

/** The Publisher of one master. */
export class Publisher implements ThreadService {
  readonly #opts: MasterOpts;
  readonly #host: ThreadHost;
  readonly #path: string;
  readonly #inbox = Inbox.pull({ highWaterMark: 0 });
  readonly #port: SharedPort;
  readonly #sender: EventSender;
  readonly #sealer: PublishSealer;
  readonly #book: PresenceBook;
  readonly #delivery: JobDelivery;
  /** The database of jobs. */
  readonly #rows: RemoteRows | undefined;
  readonly #connections: ConnectionLimiter;
  /** Of the returns that this thread stores. */
  readonly #journal: Journal | undefined;
  #presence: PresenceReports | undefined;
  #signs: EventSubscriber | undefined;
  #running: Promise<void>[] = [];
  /** The minions of other masters. */
  readonly #elsewhere = new RememberedValue<ReadonlySet<string>>(() => {
    const { present } = readPeersPresence(this.#opts.cachedir);
    return new Set([...present.keys()].filter((id) => !this.#book.since.has(id)));
  }, OTHERS_MS);
  #published = 0;

  private constructor(
    opts: MasterOpts,
    parts: PublisherParts,
    { host, open }: { readonly host: ThreadHost; readonly open: Pace["open"] | undefined },
  ) {
    this.#opts = opts;
    this.#host = host;
    this.#path = publishPullPath(opts.sock_dir);
    this.#rows = parts.storePort && new RemoteRows(parts.storePort);
    const sharedKey = new SharedKey(parts.sharedKey);
    const sessions = openSessions(opts, parts);
    const book = this.#book = new PresenceBook({
      sessionKeys: (id) => sessions.crypticles(id).map(({ keyString }) => keyString),
      sharedKey: () => sharedKey.text,
    });
    this.#sealer = new PublishSealer(opts, {
      sharedKey,
      masterKeys: new MasterPairs(opts, parts.masterPem),
      isNumbered: parts.cluster === undefined,
    });
    this.#journal = masterJournal(opts, host.log);
    this.#delivery = new JobDelivery({
      jobs: openJobStore(opts, { log: host.log.error, rows: this.#rows, journal: this.#journal }),
      undelivered: new UndeliveredJobs(opts.cachedir, parts.jobSecret),
      log: host.log,
      isPresent: (id) => book.since.has(id),
      publish: (load, minions) => this.#publish(load, minions),
      pace: open && this.#pace(parts, open),
    });
    this.#port = new SharedPort({
      highWaterMark: opts.pub_hwm,
      backlog: opts.zmq_backlog,
      ...PROBES,
      ...MANY_SUBSCRIBERS,
      handshakeMs: opts.handshake_timeout * 1000,
      // Subscribers send only small messages.
      maxFrameBytes: MAX_SUBSCRIPTION,
      ipv6: opts.ipv6 ?? undefined,
    }, socketsFor(new KeyStore(opts.pki_dir).list("accepted").length));
    this.#connections = new ConnectionLimiter(this.#port.connections(), {
      name: "publish_port",
      limits: connectionLimits(opts),
      memory: { rule: new Subscribed(), max: MAX_SUBSCRIBED, name: "for all subscriptions" },
      log: host.log,
    });
    this.#sender = new EventSender(masterBus(opts.sock_dir).pull);
  }

  /** The rules of `flow` with `running`. */
  #pace({ flow, cluster }: PublisherParts, open: Pace["open"]): Pace | undefined {
    const { cachedir, flow: rules } = this.#opts;
    const flags = cluster && new LeaseFlags(cluster.leases);
    const places = openRunningPlaces(rules, flow, flags && (() => flags.masters));
    if (places === undefined) return undefined;
    const data = new DataCache(cachedir, { log: this.#host.log.error });
    const elsewhere = cluster && (() => this.#elsewhere.get());
    const byAddress = new AddressPresence(data, () => this.#port.port);
    return {
      places,
      open,
      // By its address alone a minion may seem to be connected to several masters.
      isConnected: (id) => this.#book.since.has(id) || (byAddress.has(id) && !elsewhere?.().has(id)),
      elsewhere,
      tell: (turn) => this.#sender.fire(jobTurn(turn.jid), stamp(turnData(turn))),
      fireReturn: (load) => this.#sender.fire(jobReturn(str(load.get("jid") ?? ""), str(load.get("id") ?? "")), load),
      commit: () => this.#journal?.commit() ?? Promise.resolve(),
    };
  }

  /**
   * Starts it. When this resolves, it listens and has sent its port to the main thread.
   * @throws {Error} If an address cannot be bound.
   */
  static async start(opts: MasterOpts, parts: PublisherParts, host: ThreadHost): Promise<Publisher> {
    const open = parts.flow && (await import("./paced_jobs.ts")).openPacedJobs;
    const publisher = new Publisher(opts, parts, { host, open });
    await publisher.#delivery.takeUp();
    await publisher.#listen();
    return publisher;
  }

  async #listen(): Promise<void> {
    const opts = this.#opts;
    await this.#port.bind(tcpAddress(opts.interface, opts.publish_port));
    await this.#inbox.bind(`ipc://${this.#path}`);
    Deno.chmodSync(this.#path, 0o600);
    const signs = this.#signs = await EventSubscriber.connect(masterBus(opts.sock_dir).pub, [jobPrefix("")]);
    const presence = this.#presence = new PresenceReports({
      cachedir: opts.cachedir,
      book: this.#book,
      log: this.#host.log,
      fire: (tag, data) => this.#sender.fire(tag, data),
      onArrivals: (ids) => this.#delivery.arrived(ids),
    });
    const ready: PublisherReady = { publishPort: this.#port.port };
    this.#host.post(ready);
    const loops = [
      this.#takeJobs(),
      // Minions that connect and disconnect.
      this.#port.receive((frame) => void presence.receive(frame)),
      signs.readTags((tag) => this.#delivery.noteEvent(tag), REST_MS),
    ];
    this.#running = loops.map((loop) => loop.catch((error) => this.#host.fail(messageOf(error))));
  }

  async #takeJobs(): Promise<void> {
    for (let frames = await this.#inbox.receive(); frames !== undefined; frames = await this.#inbox.receive()) {
      try {
        await this.#delivery.deliver(frames[0]);
      } catch (error) {
        this.#host.log.error(`Could not publish a job: ${messageOf(error)}`);
      }
    }
  }

  async #publish(load: ValueMap, minions: readonly string[]): Promise<void> {
    const sealed = this.#sealer.seal(load);
    if (this.#opts.zmq_filtering) {
      const topics = publishTopics(load.get("tgt_type") ?? null, minions, this.#opts.order_masters).map((topic) =>
        encoder.encode(topic)
      );
      // All at once: another publish, with a higher serial, must not come between them.
      await Promise.all(topics.map((topic) => this.#port.send([topic, sealed])));
    } else await this.#port.send([sealed]);
    this.#published++;
  }

  /** Takes a message with the memory of the process. */
  onMessage(message: unknown): void {
    if (isNewStorePort(message)) return this.#rows?.moveTo(message.storePort);
    this.#connections.lookAtMemory(parseMemoryMessage(message).rss);
  }

  /** What it is doing. */
  describe(): string {
    return `waiting for jobs to publish; ${this.#published} published, ${this.#delivery.size} not acknowledged, ` +
      (this.#delivery.paced > 0 ? `${this.#delivery.paced} bounded by flow, ` : "") +
      `${this.#book.since.size} minions present, ${this.#connections.size} connections`;
  }

  async close(): Promise<void> {
    this.#delivery.close();
    this.#presence?.close();
    this.#inbox.close();
    this.#signs?.close();
    this.#connections.close();
    this.#port.close();
    await Promise.all(this.#running);
    this.#sender.close();
    await this.#journal?.close();
    removeSocketFile(this.#path);
  }
}

function turnData({ jid, rule, waiting, named }: JobTurn): ValueMap {
  return map({ jid, rule, waiting: [...waiting], named: [...named] });
}
