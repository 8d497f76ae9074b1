/**
 * The thread behind port 4505: takes loads from the MWorkers, numbers, encrypts and signs them, and publishes.
 *
 * One thread does it, because minions refuse a serial that is not above the last one: numbered by several threads, two
 * jobs could overtake each other on their way to the PUB socket, and the slower would be lost. It also knows who is
 * connected (lib/fleet/presence.ts) and publishes again what was missed (lib/jobs/redelivery.ts).
 * @module
 */

import { connectionLimits } from "./connection_limits.ts";
import { Subscribed } from "../sockets/connection_memory.ts";
import { ConnectionLimiter } from "../sockets/connection_limiter.ts";
import { stamp } from "../bus/event.ts";
import { jobPrefix, jobSign, PRESENCE_CHANGE_EVENT } from "../protocol/tags.ts";
import { EventSubscriber } from "../bus/subscriber.ts";
import { EventSender } from "../bus/sender.ts";
import { masterBus, removeSocketFile } from "../bus/paths.ts";
import { openJobStore } from "../jobs/open_store.ts";
import { publishPullPath } from "../config/master_paths.ts";
import { decode, encode } from "../values/msgpack.ts";
import { opensslOperations } from "../crypto/openssl_rsa.ts";
import type { MasterOpts } from "../config/options.ts";
import { unpackOpts } from "../config/opts_transfer.ts";
import { PresenceBook, type PresenceChange } from "../fleet/presence.ts";
import { type Presence, readPresence, writePresence } from "../fleet/presence_file.ts";
import { type Delivery, type Missed, Redelivery } from "../jobs/redelivery.ts";
import { tcpAddress } from "../sockets/request_channel.ts";
import { PrivateKey } from "../crypto/rsa.ts";
import { SessionKeys } from "../keys/sessions.ts";
import { SharedKey } from "../keys/shared_key.ts";
import { MANY_SUBSCRIBERS, PROBES } from "../sockets/settings.ts";
import { Duplex, Inbox } from "../sockets/endpoint.ts";
import { noteSockets } from "../sockets/context.ts";
import { serveThread, surviveErrors } from "../process/thread.ts";
import { UndeliveredJobs } from "../jobs/undelivered.ts";
import { isMap, map, str, toNumber, type ValueMap } from "../values/value.ts";

/** What the publisher starts with. */
export interface PublisherInit {
  /** The master's packed options. */
  readonly opts: Uint8Array;
  /** The memory of the shared key. */
  readonly sharedKey: SharedArrayBuffer;
  /** The memory of the session keys that have been read. */
  readonly sessions: SharedArrayBuffer;
  /** Where it notes its sockets, for the case that it dies. */
  readonly sockets: SharedArrayBuffer;
  /** The master's private key, which signs. */
  readonly masterPem: string;
}

/** What the publisher tells when it listens. */
export interface PublisherReady {
  /** The port that minions are to be told. */
  readonly publishPort: number;
}

/** What the publisher is told while the process works. */
export interface MemoryNews {
  /** What the process takes now, in bytes. */
  readonly rss: number;
}

/** Bytes of the longest message of a subscriber: a topic is a hundred. */
const MAX_SUBSCRIPTION = 4_096;
/** Bytes that all subscribers may have said beyond what minions say. */
const MAX_SUBSCRIBED = 4_194_304;
/** How often jobs that a connected minion gave no sign of are looked for, while there are jobs under way; in milliseconds. */
const LOOK_MS = 500;
/** How often what is over is removed from the log of undelivered jobs, while there is something in it; in milliseconds. */
const SWEEP_MS = 60_000;
/** How long it does not listen for signs when it has heard all; far below any time that a sign may take. In milliseconds. */
const REST_MS = 20;
/** How long changes of presence are gathered before they are told, in milliseconds. */
const GATHER_MS = 100;
/**
 * How long those who come are gathered before they get what they have missed, in milliseconds. A publish goes to everybody:
 * a fleet that is back after its master would otherwise get a publish for each of its minions, each time all of it.
 */
const ARRIVALS_MS = 50;

let limiter: ConnectionLimiter | undefined;

serveThread<PublisherInit>(async (init, host) => {
  surviveErrors(host.log);
  noteSockets(init.sockets);
  const opts = unpackOpts<MasterOpts>(init.opts);
  let key: PrivateKey | undefined;
  const sharedKey = new SharedKey(init.sharedKey);
  const sessions = new SessionKeys(opts.cachedir, opts.publish_session * 1000, init.sessions);
  const book = new PresenceBook({
    sessionKey: (id) => sessions.crypticle(id)?.keyString,
    sharedKey: () => sharedKey.text,
  });
  const undelivered = new UndeliveredJobs(opts.cachedir, init.masterPem);
  let looking: ReturnType<typeof setTimeout> | undefined;
  let sweeping: ReturnType<typeof setTimeout> | undefined;
  const redelivery = new Redelivery((delivery) => {
    forgetting(() => undelivered.remove(delivery, Date.now()));
    lookSoon();
  });
  takeUp();
  const inbox = Inbox.pull({ highWaterMark: 0 });
  const path = publishPullPath(opts.sock_dir);
  const socket = Duplex.xpub({
    highWaterMark: opts.pub_hwm,
    backlog: opts.zmq_backlog,
    ...PROBES,
    ...MANY_SUBSCRIBERS,
    handshakeMs: opts.handshake_timeout * 1000,
    // Who subscribes has little to say.
    maxFrameBytes: MAX_SUBSCRIPTION,
    ipv6: opts.ipv6 ?? undefined,
  });
  const connections = limiter = new ConnectionLimiter(socket.connections(), {
    name: "publish_port",
    limits: connectionLimits(opts),
    memory: { rule: new Subscribed(), most: MAX_SUBSCRIBED, name: "for all subscriptions" },
    log: host.log,
  });
  await socket.bind(tcpAddress(opts.interface, opts.publish_port));
  await inbox.bind(`ipc://${path}`);
  Deno.chmodSync(path, 0o600);
  const bus = masterBus(opts.sock_dir);
  const sender = new EventSender(bus.pull);
  const signs = await EventSubscriber.connect(bus.pub, [jobPrefix("")]);
  const gone = allGone(readPresence(opts.cachedir));
  writePresence(opts.cachedir, { present: book.since, gone });
  const ready: PublisherReady = { publishPort: Number(socket.address.split(":").at(-1)) };
  host.post(ready);

  /** What the last master did not get rid of: to those who have given no sign of it. */
  function takeUp(): void {
    const jobs = openJobStore(opts, { log: host.log.error });
    for (const delivery of undelivered.left(Date.now(), host.log.error)) {
      const { jid } = delivery;
      const heard = jobs.acks.all(jid);
      const minions = delivery.minions.filter((id) => !heard.has(id) && !jobs.has(jid, id));
      redelivery.published({ ...delivery, minions }, performance.now());
    }
    lookSoon();
    sweep();
    if (redelivery.size > 0) host.log.info(`Jobs that the last master did not deliver: ${redelivery.size}`);
  }

  /** A master at rest has nothing to look for. */
  function lookSoon(): void {
    if (redelivery.size > 0 || undelivered.expectsLate) looking ??= setTimeout(look, LOOK_MS);
  }

  function look(): void {
    looking = undefined;
    forgetting(() => undelivered.removeLate(Date.now()));
    for (const missed of redelivery.due((id) => book.since.has(id), performance.now())) void deliverAgain(missed);
    lookSoon();
  }

  /** There is something in the log of undelivered jobs now. */
  function sweepLater(): void {
    sweeping ??= setTimeout(sweep, SWEEP_MS);
  }

  function sweep(): void {
    sweeping = undefined;
    forgetting(() => {
      if (undelivered.sweepLog(Date.now())) sweepLater();
    });
  }

  function forgetting(remove: () => void): void {
    try {
      remove();
    } catch (error) {
      host.log.error(`A job stays among the undelivered: ${error instanceof Error ? error.message : error}`);
    }
  }

  let published = 0;
  let changes: PresenceChange[] = [];
  let telling: ReturnType<typeof setTimeout> | undefined;
  const arrived = new Set<string>();
  let catchingUp: ReturnType<typeof setTimeout> | undefined;
  const running = [takeJobs(), hearSubscribers(), hearSigns()].map((loop) =>
    loop.catch((error) => host.fail(error instanceof Error ? error.message : String(error)))
  );

  async function takeJobs(): Promise<void> {
    for (let frames = await inbox.receive(); frames !== undefined; frames = await inbox.receive()) {
      try {
        const delivery = parseDelivery(frames[0]);
        // First: a fast minion's sign must find it.
        redelivery.published(delivery, performance.now());
        lookSoon();
        sweepLater();
        await deliver(delivery);
      } catch (error) {
        host.log.error(`Could not publish a job: ${error instanceof Error ? error.message : error}`);
      }
    }
  }

  /**
   * A first time. Who is present can send live output; a Python minion is not asked for it: if both are meant, the first
   * get a publish of their own before the common one, which they drop as one that comes twice.
   */
  async function deliver({ load, minions, live }: Delivery): Promise<void> {
    const able = live ? minions.filter((id) => book.since.has(id)) : [];
    if (able.length > 0 && able.length === minions.length) return await publish(withLive(load));
    if (able.length > 0) await publish(withLive(loadFor(load, able)));
    await publish(load);
  }

  /**
   * Again, for those who are present and gave no sign, by their names: whoever has run the job may have forgotten that by
   * now, and whoever has been accepted since is not meant.
   */
  async function deliverAgain({ delivery: { load, live }, ids }: Missed): Promise<void> {
    const named = loadFor(load, ids);
    await publish(live ? withLive(named) : named);
  }

  async function publish(load: ValueMap): Promise<void> {
    const { crypticle, serial } = sharedKey.forPublish();
    const sealed = crypticle.dumps(new Map([...load, ["serial", serial]]));
    const envelope = map({ enc: "aes", load: sealed });
    if (opts.sign_pub_messages) {
      const algorithm = opts.publish_signing_algorithm;
      envelope.set("sig_algo", algorithm);
      key ??= PrivateKey.fromPem(init.masterPem, opensslOperations(init.masterPem));
      envelope.set("sig", key.sign(algorithm, sealed));
    }
    await socket.send([encode(envelope, "wire")]);
    published++;
  }

  /** Who comes and goes; who comes gets the jobs that it has missed. */
  async function hearSubscribers(): Promise<void> {
    for (let frames = await socket.receive(); frames !== undefined; frames = await socket.receive()) {
      const change = book.hear(frames[0]);
      if (change === undefined) continue;
      changes.push(change);
      if (change.present) gone.delete(change.id);
      else gone.set(change.id, Date.now());
      telling ??= setTimeout(() => void tell(), GATHER_MS);
      if (!change.present) continue;
      arrived.add(change.id);
      catchingUp ??= setTimeout(() => void catchUp(), ARRIVALS_MS);
    }
  }

  /** For those who came meanwhile, what they have missed. */
  async function catchUp(): Promise<void> {
    catchingUp = undefined;
    const ids = [...arrived];
    arrived.clear();
    for (const missed of redelivery.arrived(ids, performance.now())) await deliverAgain(missed);
  }

  /** The tags say all: of thousands of returns, not one is to be read a second time here. */
  async function hearSigns(): Promise<void> {
    await signs.hearTags((tag) => {
      const sign = jobSign(tag);
      if (sign !== undefined) redelivery.heard(sign.jid, sign.id, performance.now());
    }, REST_MS);
  }

  async function tell(): Promise<void> {
    telling = undefined;
    const told = changes;
    changes = [];
    try {
      writePresence(opts.cachedir, { present: book.since, gone });
    } catch (error) {
      host.log.error(`Who is present could not be written: ${error instanceof Error ? error.message : error}`);
    }
    // Somebody who went and came back within the gathering is no news.
    const last = new Map(told.map(({ id, present }) => [id, present]));
    const ids = (present: boolean) => [...last].filter(([, is]) => is === present).map(([id]) => id);
    await sender.fire(PRESENCE_CHANGE_EVENT, stamp(map({ new: ids(true), lost: ids(false) })));
  }

  return {
    describe: () =>
      `waiting for jobs to publish; ${published} published, ${redelivery.size} without a sign, ${book.since.size} minions present, ` +
      `${connections.size} connections`,
    async close() {
      clearTimeout(looking);
      clearTimeout(sweeping);
      clearTimeout(telling);
      clearTimeout(catchingUp);
      inbox.close();
      signs.close();
      connections.close();
      socket.close();
      await Promise.all(running);
      sender.close();
      removeSocketFile(path);
    },
  };
}, (news) => limiter?.lookAtMemory((news as MemoryNews).rss));

/** Whoever was there under the last master has left with it, until it comes again. */
function allGone({ present, gone }: Presence): Map<string, number> {
  return new Map([...gone, ...[...present.keys()].map((id) => [id, Date.now()] as const)]);
}

/** The load for these minions alone. */
function loadFor(load: ValueMap, ids: readonly string[]): ValueMap {
  return new Map([...load, ["tgt", [...ids]], ["tgt_type", "list"]]);
}

/** The load with the wish for live output. */
function withLive(load: ValueMap): ValueMap {
  return new Map([...load, ["live", true]]);
}

/** What an MWorker pushed: a load, and for whom and how long. */
function parseDelivery(frame: Uint8Array): Delivery {
  const pushed = decode(frame, "disk");
  const load = isMap(pushed) ? pushed.get("load") : undefined;
  if (!isMap(pushed) || !isMap(load)) throw new TypeError("what came to be published is no load");
  const minions = pushed.get("minions");
  return {
    jid: str(load.get("jid") ?? ""),
    load,
    live: pushed.get("live") === true,
    minions: Array.isArray(minions) ? minions.filter((id) => typeof id === "string") : [],
    ttlMs: toNumber(pushed.get("ttl_ms")) ?? 0,
  };
}
