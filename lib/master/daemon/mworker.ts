/**
 * An MWorker: takes requests from the proxy behind port 4506, one after the other, and sends the replies.
 *
 * A DEALER rather than a REP: it sees who asked, and notes that in shared memory while it works. If its thread dies,
 * the next one answers the client that was waiting. It takes the next request while one waits: for the disk with
 * `durability: machine`, where one sync serves all requests that came meanwhile, or for a function that runs in a
 * process. Its thread is mworker_thread.ts.
 * @module
 */

import type { AttemptRequest } from "#lib/auth/attempts.ts";
import { messageOf } from "#lib/errors.ts";
import { type InFlightRequest, inFlightRequests } from "./in_flight_request.ts";
import { encode } from "#lib/values/msgpack.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { type OpenServices, openServices, type ServicesInit, type ServicesPlugins } from "./mworker_services.ts";
import { NO_ANSWER, RequestHandler } from "#lib/master/requests/request_handler.ts";
import { RefusedTurns } from "#lib/master/requests/refused_turns.ts";
import { sleep } from "#lib/os/sleep.ts";
import { Duplex, type SharedPlace } from "#lib/sockets/endpoint.ts";
import type { Frames } from "#lib/sockets/libzmq.ts";
import { meterOf, tracerOf } from "#lib/tracing/late_tracer.ts";
import type { Meter } from "#lib/tracing/meter.ts";
import type { Tracer } from "#lib/tracing/tracer.ts";
import { withLease } from "#lib/runtime/thread_lease.ts";
import type { ThreadHost, ThreadService } from "#lib/runtime/thread.ts";
import type { TimeBudget } from "#lib/os/time_budget.ts";

/** What an MWorker needs besides the master's options. */
export interface MWorkerParts extends ServicesInit {
  /** The address of the requests. */
  readonly requests: SharedPlace;
  /** Maximum number of queued requests. */
  readonly queued: number;
  /** Memory for the routes of current requests. */
  readonly held: SharedArrayBuffer;
}

/** Where an MWorker runs, and its plugins. */
interface MWorkerRun {
  readonly host: ThreadHost;
  readonly plugins: ServicesPlugins;
}

/** Who sent a request. */
interface Sender {
  readonly connection: string;
  /** Whether it was refused before it waited for anything. */
  isRefused: boolean;
}

/** A request. */
interface Received {
  readonly route: Frames;
  readonly body: Uint8Array;
  readonly sender: Sender;
}

/** A worker that must stop answers requests until none has come for this time, in milliseconds. */
const QUIET_MS = 40;
/** A pause that took longer is not counted, in milliseconds. */
const LATE_MS = 2 * QUIET_MS;
/** Number of such pauses in a row, since a suspended machine may see no request in one. */
const QUIET_LOOKS = 2;
/** The end of its time for ending, which is left to its journal and its sockets however much comes. In milliseconds. */
const LAST_WRITES_MS = 1_000;
/** The part of that time that is reserved for the sockets, after the journal. In milliseconds. */
const LAST_CLOSE_MS = 100;
/** How long libzmq keeps its last answers for a proxy that is busy, in milliseconds. */
const LINGER_MS = 3_000;

/** One MWorker. */
export class MWorker implements ThreadService {
  readonly #open: OpenServices;
  readonly #handler: RequestHandler;
  readonly #tracer: Tracer | undefined;
  readonly #meter: Meter | undefined;
  readonly #socket: Duplex;
  /** Notes for requests that may yet be taken. */
  readonly #held: InFlightRequest[];
  /** The running answers, including those that wait. */
  readonly #answers = new Set<Promise<void>>();
  /** Resolved when the current request waits for the disk, or for a function that runs in a process. */
  #parking = Promise.withResolvers<void>();
  /** The request that was received last: the current one, until it waits. */
  #current: AttemptRequest = { connection: "", release: () => {} };
  readonly #refused: RefusedTurns;
  #running: Promise<void> = Promise.resolve();
  #handled = 0;
  /** The time at which the current request was received; 0 if there is none. */
  #since = 0;
  #stopping = false;
  readonly #host: ThreadHost;

  private constructor(
    opts: MasterOpts,
    parts: MWorkerParts,
    { host, plugins, tracer, meter }: MWorkerRun & {
      readonly tracer: Tracer | undefined;
      readonly meter: Meter | undefined;
    },
  ) {
    this.#host = host;
    this.#open = openServices(opts, parts, {
      log: host.log,
      plugins,
      onWait: () => this.#park(),
      post: host.post,
    });
    const { warn } = this.#open.services;
    this.#refused = new RefusedTurns({ threads: opts.worker_threads, now: () => performance.now(), warn });
    this.#tracer = tracer;
    this.#meter = meter;
    meter?.observe("salt.requests.waiting", () => [{ labels: {}, value: this.#answers.size }]);
    this.#handler = new RequestHandler(
      { ...this.#open.services, ...meter !== undefined && { metrics: meter } },
      tracer,
    );
    this.#socket = Duplex.inherited(parts.requests, {
      highWaterMark: 0,
      receiveHighWaterMark: parts.queued,
      lingerMs: LINGER_MS,
    });
    this.#held = inFlightRequests(parts.held);
  }

  /** Answers for the requests that the thread before it died of, and takes requests from then on. */
  static async start(opts: MasterOpts, parts: MWorkerParts, run: MWorkerRun): Promise<MWorker> {
    const tracer = await tracerOf(opts.tracing, "salt-master", run.host.log);
    const who = { service: "salt-master", instance: crypto.randomUUID() };
    const meter = await meterOf(opts.metrics, who, run.host.log);
    const worker = new MWorker(opts, parts, { ...run, tracer, meter });
    await worker.#answerOrphans();
    worker.#running = worker.#serve().catch((error) => worker.#fail(error));
    return worker;
  }

  /** What it is doing. */
  describe(): string {
    return this.#since === 0
      ? `waiting for a request; ${this.#handled} handled`
      : `at a request for ${Math.round(performance.now() - this.#since)} ms; ${this.#handled} handled`;
  }

  /** Takes messages of the main thread about functions that requests wait for. */
  onMessage(message: unknown): void {
    this.#open.receive(message);
  }

  /**
   * The current request waits: the next one is taken.
   * @returns The current one.
   */
  #park(): AttemptRequest {
    this.#parking.resolve();
    return this.#current;
  }

  async #answerOrphans(): Promise<void> {
    for (const note of this.#held) {
      const orphan = note.route;
      if (orphan === undefined) continue;
      this.#host.log.error("Answering a request that the thread before this one died of");
      const answer = encode("Some exception handling minion payload", "wire");
      await this.#socket.send([...orphan, answer], -1, () => note.clear());
    }
  }

  #fail(error: unknown): void {
    this.#host.fail(messageOf(error));
  }

  async #serve(): Promise<void> {
    while (!this.#stopping && await this.#serveOne());
  }

  /**
   * A separate function, so that a large request is freed before the next one comes.
   * @returns Whether to continue.
   */
  async #serveOne(): Promise<boolean> {
    const note = this.#held.pop();
    if (note === undefined) throw new Error("more requests at once than there are notes for");
    const frames = await this.#socket.receive(-1, (taken) => note.note(splitRoute(taken).route));
    if (frames === undefined) return false;
    const { route, body } = splitRoute(frames);
    this.#since = performance.now();
    this.#parking = Promise.withResolvers();
    const sender: Sender = { connection: route[0].toHex(), isRefused: false };
    const answering = this.#answer(note, { route, body, sender })
      .catch((error) => this.#fail(error))
      .finally(() => this.#answers.delete(answering));
    this.#answers.add(answering);
    await Promise.race([answering, this.#parking.promise]);
    const spentMs = performance.now() - this.#since;
    this.#open.services.minions.flow.spent(spentMs);
    if (sender.isRefused) this.#refused.refused(sender.connection, spentMs);
    while (this.#held.length === 0) await Promise.race(this.#answers);
    this.#since = 0;
    return true;
  }

  async #answer(note: InFlightRequest, { route, body, sender }: Received): Promise<void> {
    let released = false;
    // A wrong password is answered a second later, and as many may wait for that as there are connections. If the
    // thread dies meanwhile, they are not answered.
    const release = () => {
      released = true;
      withLease(() => note.clear());
      this.#held.push(note);
    };
    this.#current = { connection: sender.connection, release };
    const reply = await this.#inTurn(sender, body);
    if (reply !== NO_ANSWER) await this.#socket.send([...route, reply], -1, () => released || note.clear());
    else if (!released) withLease(() => note.clear());
    if (!released) this.#held.push(note);
    this.#handled++;
  }

  /** The reply to a request; none if too many of its sender were refused, and others of it wait. */
  async #inTurn(sender: Sender, body: Uint8Array): Promise<Uint8Array> {
    const turn = this.#refused.begin(sender.connection, body.length);
    if (turn === "never") return NO_ANSWER;
    let inTurn = true;
    if (turn !== undefined) {
      inTurn = false;
      const current = this.#park();
      await sleep(turn.waitMs);
      turn.end();
      this.#current = current;
    }
    let isRefused = false;
    const reply = await this.#handler.handle(body, () => {
      isRefused = true;
      sender.isRefused = inTurn;
    });
    if (!isRefused) this.#refused.accepted(sender.connection);
    return reply;
  }

  /** Ends it when the last requests have been answered. */
  async close(budget: TimeBudget): Promise<void> {
    // Every received request is answered: a Python minion of 3007 without an answer is blocked for a minute.
    const answering = budget.less(LAST_WRITES_MS);
    for (let quiet = 0; quiet < QUIET_LOOKS && answering.leftMs > 0;) {
      const [before, since] = [this.#handled, performance.now()];
      await sleep(QUIET_MS);
      // If this thread has to wait for a processor, the proxy's thread that passes the requests does too.
      const late = performance.now() - since > LATE_MS;
      quiet = late || this.#handled > before || this.#since !== 0 || this.#answers.size > 0 ? 0 : quiet + 1;
    }
    this.#stopping = true;
    do await Promise.allSettled(this.#answers); while (this.#answers.size > 0);
    if (this.#since === 0) this.#socket.close();
    await this.#running;
    await Promise.allSettled(this.#answers);
    this.#socket.close();
    await Promise.all([this.#tracer, this.#meter].map((one) => one?.close(budget.less(LAST_CLOSE_MS).leftMs)));
    await this.#open.close(budget.less(LAST_CLOSE_MS));
  }
}

/** The route to the client, with its empty delimiter, and the request (empty if there is none). */
function splitRoute(frames: Frames): { route: Frames; body: Uint8Array } {
  const delimiter = frames.findIndex((frame, i) => i > 0 && frame.length === 0);
  // Without a delimiter the sender was no REQ: then the route is the ROUTER's own frame.
  const end = delimiter < 0 ? 1 : delimiter + 1;
  const body = frames.length === end + 1 ? frames[end] : new Uint8Array();
  return { route: frames.slice(0, end), body };
}
