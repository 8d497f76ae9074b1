/**
 * The thread of an MWorker: takes requests from the proxy behind port 4506, one after the other, and sends the replies.
 *
 * A DEALER rather than a REP: it sees who asked, and notes that in shared memory while it works. If this thread dies, the
 * next one answers whoever was waiting. Under `durability: machine` it goes on with the next request while the disk is at work for
 * one: a sync serves all that came meanwhile.
 * @module
 */

import { Access } from "./access.ts";
import { Autosign } from "../keys/autosign.ts";
import { throttledWarnings } from "./throttled_warnings.ts";
import { DataCache } from "../fleet/data_cache.ts";
import { stamp } from "../bus/event.ts";
import { StoreError } from "../errors.ts";
import { EventSender } from "../bus/sender.ts";
import { heldRequests, type InFlightRequest } from "./in_flight_request.ts";
import { openJobStore } from "../jobs/open_store.ts";
import { shareJids } from "../protocol/jid.ts";
import { KeyStore } from "../keys/store.ts";
import { masterJournal } from "./journal.ts";
import { publishPullPath } from "../config/master_paths.ts";
import { encode } from "../values/msgpack.ts";
import { opensslOperations } from "../crypto/openssl_rsa.ts";
import type { MasterOpts } from "../config/options.ts";
import { unpackOpts } from "../config/opts_transfer.ts";
import { VerifiedTokens } from "../keys/verified_tokens.ts";
import type { Delivery } from "../jobs/redelivery.ts";
import { RateLimit } from "./rate_limit.ts";
import { BoundedMap } from "../values/bounded_map.ts";
import { NO_ANSWER, RequestHandler } from "./request_handler.ts";
import { PrivateKey } from "../crypto/rsa.ts";
import { SessionKeys } from "../keys/sessions.ts";
import { SharedKey } from "../keys/shared_key.ts";
import { SignInTurns } from "./sign_in_turns.ts";
import { sleep } from "../os/sleep.ts";
import { Duplex, type Frames, Outbox, type SharedPlace } from "../sockets/endpoint.ts";
import { leased } from "../process/thread_lease.ts";
import { noteSockets } from "../sockets/context.ts";
import { serveThread, surviveErrors } from "../process/thread.ts";
import { UndeliveredJobs } from "../jobs/undelivered.ts";
import { map, str } from "../values/value.ts";

/** What an MWorker starts with. */
export interface MWorkerInit {
  /** The master's packed options. */
  readonly opts: Uint8Array;
  /** The memory of the shared key. */
  readonly sharedKey: SharedArrayBuffer;
  /** The memory of the tokens that have been checked. */
  readonly verified: SharedArrayBuffer;
  /** The memory of the last job id. */
  readonly jids: SharedArrayBuffer;
  /** The memory of the session keys that have been read. */
  readonly sessions: SharedArrayBuffer;
  /** Where the requests come from. */
  readonly requests: SharedPlace;
  /** Where its events go. */
  readonly events: SharedPlace;
  /** How many requests may wait in it. */
  readonly queued: number;
  /** The memory of the limit on strangers' sign-ins. */
  readonly strangers: SharedArrayBuffer;
  /** The memory of the sign-ins of accepted keys, and of the limit on those that come too often. */
  readonly signIns: { readonly turns: SharedArrayBuffer; readonly others: SharedArrayBuffer };
  /** Where it notes whose request it holds. */
  readonly held: SharedArrayBuffer;
  /** Where it notes its sockets, for the case that it dies. */
  readonly sockets: SharedArrayBuffer;
  /** The master's private key. */
  readonly masterPem: string;
  /** The port that minions subscribe to. */
  readonly publishPort: number;
  /** User name → key string. */
  readonly accessKeys: ReadonlyMap<string, string>;
  /** The user that the master runs as. */
  readonly owner: string;
}

/** How many returns are remembered that were told and could not be stored. */
const TOLD_RETURNS = 10_000;
/** A worker that is told to stop takes what may still come, until nothing did for so long. In milliseconds. */
const QUIET_MS = 40;
/** So often in a row: of a machine that stands still meanwhile, one look sees nothing come. */
const QUIET_LOOKS = 2;
/** And what of its time for ending it keeps for the journal and its sockets, however much comes. In milliseconds. */
const LAST_WRITES_MS = 1_000;
/** What of that is kept for the sockets, after the journal. In milliseconds. */
const LAST_CLOSE_MS = 100;
/** How long libzmq keeps its last answers for a proxy that is busy, in milliseconds. */
const LINGER_MS = 3_000;

serveThread<MWorkerInit>(async (init, { log, fail }) => {
  surviveErrors(log);
  noteSockets(init.sockets);
  shareJids(init.jids);
  const opts = unpackOpts<MasterOpts>(init.opts);
  const bus = new EventSender(init.events);
  /** The answers that wait for the disk, and that which is being made. */
  const answers = new Set<Promise<void>>();
  /** Resolved when the request in hand waits for the disk. */
  let parking = Promise.withResolvers<void>();
  const publisher = Outbox.push({ highWaterMark: 0, lingerMs: 1_000 });
  publisher.connect(`ipc://${publishPullPath(opts.sock_dir)}`);
  const journal = masterJournal(opts, log);
  const undelivered = new UndeliveredJobs(opts.cachedir, init.masterPem, journal);
  let masterKey: PrivateKey | undefined;
  const handler = new RequestHandler({
    opts,
    publishPort: init.publishPort,
    // Read when somebody signs in: a thread that never meets one needs no RSA.
    get masterKey() {
      return masterKey ??= PrivateKey.fromPem(init.masterPem, opensslOperations(init.masterPem));
    },
    sharedKey: new SharedKey(init.sharedKey),
    sessions: new SessionKeys(opts.cachedir, opts.publish_session * 1000, init.sessions),
    keys: new KeyStore(opts.pki_dir),
    verified: new VerifiedTokens(init.verified),
    jobs: openJobStore(opts, { log: log.error, journal }),
    told: new BoundedMap(TOLD_RETURNS),
    data: new DataCache(opts.cachedir, { log: log.error }),
    access: new Access(init.accessKeys, {
      owner: init.owner,
      acl: opts.publisher_acl,
      blacklist: opts.publisher_acl_blacklist,
      sudoAcl: opts.sudo_acl,
    }),
    strangers: new RateLimit(opts.max_sign_ins, init.strangers),
    signIns: new SignInTurns(new RateLimit(opts.max_sign_ins, init.signIns.others), init.signIns.turns),
    autosign: new Autosign(opts, { warn: log.warning }),
    complain: throttledWarnings(log),
    log,
    async durable() {
      if (journal === undefined) return;
      const committed = journal.commit();
      parking.resolve();
      await committed;
    },
    async fire(tag, data) {
      if (!await bus.fire(tag, stamp(data))) log.error(`The event bus did not take the event ${tag}`);
    },
    async publish(load, { minions, ttlMs, live }) {
      await publisher.send([encode(map({ load, minions, ttl_ms: ttlMs, live }), "disk")]);
      // It is on its way already, which takes as long; whoever asked hears of the job after this.
      if (ttlMs > 0) keep({ jid: str(load.get("jid") ?? ""), load, minions, ttlMs, live });
    },
  });

  const socket = Duplex.inherited(init.requests, {
    highWaterMark: 0,
    receiveHighWaterMark: init.queued,
    lingerMs: LINGER_MS,
  });
  const held = heldRequests(init.held);
  for (const note of held) {
    const orphan = note.route;
    if (orphan === undefined) continue;
    log.error("Answering a request that the thread before this one died of");
    await socket.send([...orphan, encode("Some exception handling minion payload", "wire")], -1, () => note.clear());
  }

  /** So that the job goes out even if this master dies now. */
  function keep(delivery: Delivery): void {
    try {
      undelivered.save(delivery, Date.now());
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      log.error(error.message);
    }
  }

  let handled = 0;
  let since = 0;
  let stopping = false;
  const running = serve().catch((error) => fail(error instanceof Error ? error.message : String(error)));

  async function serve(): Promise<void> {
    while (!stopping && await serveOne());
  }

  /** A function of its own, so that a large request is not held until the next one comes. @returns Whether to go on. */
  async function serveOne(): Promise<boolean> {
    const note = held.pop();
    if (note === undefined) throw new Error("more requests at once than there are notes for");
    const frames = await socket.receive(-1, (taken) => note.note(splitRoute(taken).route));
    if (frames === undefined) return false;
    const { route, body } = splitRoute(frames);
    since = performance.now();
    if (journal === undefined) {
      await answer(note, route, body);
      since = 0;
      return true;
    }
    parking = Promise.withResolvers();
    const answering = answer(note, route, body)
      .catch((error) => fail(error instanceof Error ? error.message : String(error)))
      .finally(() => answers.delete(answering));
    answers.add(answering);
    await Promise.race([answering, parking.promise]);
    if (held.length === 0) await Promise.race(answers);
    since = 0;
    return true;
  }

  async function answer(note: InFlightRequest, route: Frames, body: Uint8Array): Promise<void> {
    const reply = await handler.handle(body);
    const clear = () => note.clear();
    if (reply === NO_ANSWER) leased(clear);
    else await socket.send([...route, reply], -1, clear);
    held.push(note);
    handled++;
  }

  return {
    describe: () =>
      since === 0
        ? `waiting for a request; ${handled} handled`
        : `at a request for ${Math.round(performance.now() - since)} ms; ${handled} handled`,
    async close(budget) {
      // Whoever was heard is answered: a Python minion of 3007 whose request goes unanswered says nothing for a minute.
      const answering = budget.less(LAST_WRITES_MS);
      for (let quiet = 0; quiet < QUIET_LOOKS && answering.leftMs > 0;) {
        const before = handled;
        await sleep(QUIET_MS);
        quiet = handled > before || since !== 0 || answers.size > 0 ? 0 : quiet + 1;
      }
      stopping = true;
      while (answers.size > 0) await Promise.allSettled(answers);
      if (since === 0) socket.close();
      await running;
      await Promise.allSettled(answers);
      socket.close();
      await journal?.close(budget.less(LAST_CLOSE_MS));
      bus.close();
      publisher.close();
    },
  };
});

/** The way back to whoever asked, with its empty delimiter, and the request itself (empty if there was none). */
function splitRoute(frames: Frames): { route: Frames; body: Uint8Array } {
  const delimiter = frames.findIndex((frame, i) => i > 0 && frame.length === 0);
  // Without a delimiter the sender was no REQ: the ROUTER's own frame is the way back all the same.
  const end = delimiter < 0 ? 1 : delimiter + 1;
  const body = frames.length === end + 1 ? frames[end] : new Uint8Array();
  return { route: frames.slice(0, end), body };
}
