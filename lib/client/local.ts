/**
 * The operator's side of a job: publishes it on port 4506 and collects the returns from the master's event bus.
 * Subscribes before it publishes, so that no return is missed, and checks the job cache before it reports a minion as
 * silent. Prints nothing.
 * Source: docs/protocol.md "How a client waits".
 * @module
 */

import type { CollectOptions, CollectTimeouts, JobRequest, PublishedJob, Returned, Silent, TurnWait } from "./job.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import {
  messageOf,
  NoMasterError,
  RefusedError,
  RequestTimeoutError,
  TargetError,
  ThrottledError,
  UsageError,
  WireError,
} from "#lib/errors.ts";
import { sleep } from "#lib/os/sleep.ts";
import { jobPrefix, PRESENCE_CHANGE_EVENT } from "#lib/protocol/tags.ts";
import { LoggedSubscriber } from "#lib/bus/logged_subscriber.ts";
import { commandStore } from "./command_store.ts";
import type { JobReturn, JobStore } from "#lib/jobs/store.ts";
import { jobMinions } from "#lib/jobs/listing.ts";
import { type JobOutcome, jobOutcomes } from "#lib/jobs/outcomes.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { minionsBeyond, readPresence } from "#lib/fleet/presence_file.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { StoreLog } from "#lib/os/store_files.ts";
import { type Collection, concernsJob, SYNDIC_EVENTS, takeEvent, toReturned } from "./job_events.ts";
import { ifReadable } from "./if_readable.ts";
import { JobWatch } from "./watch.ts";
import { accessKeyPath } from "#lib/config/master_paths.ts";
import { subscribedBus } from "./subscribed_bus.ts";
import { masterAddress } from "./master_address.ts";
import { checkMasterRunning, isMasterRunning } from "./master_running.ts";
import { decode } from "#lib/values/msgpack.ts";
import type { Signs } from "./signed_request.ts";
import { EAUTH_TIMEOUTS, isThrottled, throwRefusal } from "./token_request.ts";
import { NO_LOG } from "#lib/protocol/no_log.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { FIND_JOB } from "#lib/protocol/about_jobs.ts";
import { BEYOND, mayReturn } from "#lib/protocol/outcome.ts";
import type { ReturnKey } from "#lib/protocol/return_key.ts";
import { OutputFollower, type OutputListener, type StoredOutputs } from "./output_follower.ts";
import { clearRequest } from "#lib/protocol/payload.ts";
import { RequestChannel } from "#lib/sockets/request_channel.ts";
import { truncateValue } from "#lib/text/truncate.ts";
import { writeTrace } from "#lib/tracing/trace_context.ts";
import { onlyStrings } from "#lib/values/shape.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The caller that connects. */
export interface LocalClientOptions {
  /** The user whose key authenticates the requests. */
  readonly user: string;
  /** Logs files of the master that cannot be read. */
  readonly log: Logger;
  /** A token, or a name and a password of `external_auth`, instead of that key. */
  readonly credentials?: ValueMap;
  /** Signs the jobs. Default: they are not signed. */
  readonly signer?: Signs;
}

/** A key for {@linkcode JobRequest.noLog}. The code for it is loaded on the first call. */
export async function newReturnKey(): Promise<ReturnKey> {
  const { ReturnKey } = await import("#lib/protocol/return_key.ts");
  return await ReturnKey.create();
}

/** A function on hosts of a roster. */
export interface AuthorizedCall {
  readonly fun: string;
  /** As on the wire. */
  readonly arg: readonly Value[];
  /** The ids of the hosts. */
  readonly ids: readonly string[];
}

/** The clear commands that have a job's fields. */
type Command = "publish" | "resolve" | "authorize";

/** Time limit of publishing. */
const PUBLISH_TIMEOUTS = { timeoutMs: 15_000, tries: 1 };

/**
 * How long a client of a cluster hears nothing of its job before it looks for stored returns, in milliseconds. The last
 * events of a master that is killed reach no other.
 */
const LOOK_MS = 30_000;

/** A connection to the master on this host. */
export class LocalClient {
  readonly #opts: MasterOpts;
  readonly #user: string;
  readonly #credentials: ValueMap | undefined;
  readonly #signer: Signs | undefined;
  readonly #log: Logger;
  readonly #channel: RequestChannel;
  readonly #events: LoggedSubscriber;
  readonly #publishPort: number;
  readonly #jobs: JobStore;
  readonly #data: DataCache;

  private constructor(
    opts: MasterOpts,
    { user, log, credentials, signer }: LocalClientOptions,
    parts: { channel: RequestChannel; events: LoggedSubscriber; port: number },
  ) {
    this.#opts = opts;
    this.#user = user;
    this.#credentials = credentials;
    this.#signer = signer;
    this.#log = log.named("salt.client");
    // Users in `publisher_acl` may not read the master's files: for them this is expected and not logged.
    const storeLog: StoreLog = (text, cause) =>
      cause instanceof Deno.errors.PermissionDenied ? log.debug(text) : log.warning(text);
    this.#jobs = commandStore(opts, { log: storeLog });
    this.#data = new DataCache(opts.cachedir, { log: storeLog });
    this.#channel = parts.channel;
    this.#events = parts.events;
    this.#publishPort = parts.port;
  }

  /**
   * Connects to the master whose options are given.
   * @throws {NoMasterError} At once, if none is running.
   */
  static async connect(opts: MasterOpts, options: LocalClientOptions): Promise<LocalClient> {
    await checkMasterRunning(opts.sock_dir);
    const { requests, publishPort } = masterAddress(opts);
    options.log.named("salt.client").debug(() =>
      `Connecting to the master's event bus in ${opts.sock_dir}, and to ${requests}`
    );
    const events = await LoggedSubscriber.connect(subscribedBus(opts), [
      jobPrefix(""),
      PRESENCE_CHANGE_EVENT,
      ...opts.order_masters ? [SYNDIC_EVENTS] : [],
    ]);
    const channel = new RequestChannel(requests);
    return new LocalClient(opts, options, { channel, events, port: publishPort });
  }

  /**
   * Publishes a job.
   * @param turn How long it may wait for its turn. Default: it does not wait.
   * @throws {ThrottledError} If its turn has not come.
   * @throws {RefusedError} If this user may not.
   * @throws {TargetError} If no minion matches.
   * @throws {UsageError} If the job is larger than a request may be.
   * @throws {NoMasterError} If the master does not answer.
   */
  async publish(wanted: JobRequest, turn?: TurnWait): Promise<PublishedJob> {
    const job = this.#signer === undefined ? wanted : await this.#signed(wanted, this.#signer);
    for (;;) {
      try {
        return await this.#publish(job);
      } catch (error) {
        if (!(error instanceof ThrottledError) || turn === undefined) throw error;
        const { rule, retryAfterMs } = error;
        if (turn.signal.aborted || performance.now() + retryAfterMs > turn.untilMs) throw error;
        turn.onWait(`waits for its turn (rule ${rule}), ${(retryAfterMs / 1000).toFixed(1)} s`);
        await sleep(retryAfterMs, turn.signal);
      }
    }
  }

  async #publish(job: JobRequest): Promise<PublishedJob> {
    this.#log.debug(() => `Publishing ${str(job.fun)} to ${truncateValue(job.tgt)} (${job.tgtType}) as ${this.#user}`);
    const { jid, minions, missing } = await this.#answered(job, "publish");
    this.#log.debug(() => `Job ${jid} is published to ${minions.length} minions`);
    const published = { jid, minions, missing };
    return job.noLog === undefined ? published : { ...published, noLog: job.noLog };
  }

  /**
   * The accepted minions of a job, as the master resolves its target for a user who may publish it. Nothing is
   * published.
   * @throws As {@linkcode publish}.
   */
  async resolve(job: JobRequest): Promise<readonly string[]> {
    return (await this.#answered(job, "resolve")).minions;
  }

  /**
   * Asks the master whether the user may run a function on hosts of a roster.
   * @param ids Their ids.
   * @throws {RefusedError} If not.
   */
  async authorize({ fun, arg, ids }: AuthorizedCall): Promise<void> {
    await this.#answered({ tgt: [...ids], tgtType: "list", fun, arg: [...arg] }, "authorize");
  }

  async #answered(job: JobRequest, cmd: Command): Promise<PublishedJob> {
    let reply = await this.#ask(job, cmd);
    // A restarted master has new keys: read our key again, once.
    if (isMap(reply) && reply.has("error") && this.#credentials === undefined && !isThrottled(reply)) {
      reply = await this.#ask(job, cmd);
    }
    throwRefusal(reply);
    if (!isMap(reply)) throw new WireError(`The master answered ${str(reply)} to a ${cmd}`);
    const load = reply.get("load");
    const jid = isMap(load) ? load.get("jid") : undefined;
    if (!isMap(load) || typeof jid !== "string") {
      throw new TargetError(str(isMap(load) ? load.get("error") ?? "" : ""), job.tgtType);
    }
    return { jid, minions: onlyStrings(load.get("minions")), missing: onlyStrings(load.get("missing")) };
  }

  async #signed(job: JobRequest, signer: Signs): Promise<JobRequest> {
    const { signedRequest } = await import("./signed_request.ts");
    const name = this.#credentials?.get("username");
    return await signedRequest(job, { opts: this.#opts, user: typeof name === "string" ? name : this.#user, signer });
  }

  async #ask(job: JobRequest, cmd: Command): Promise<Value> {
    const key = readTextFileIfExists(accessKeyPath(this.#opts.cachedir, keyOwner(this.#user, this.#opts.user)))?.trim();
    const load = map({
      cmd,
      tgt: job.tgt,
      fun: job.fun,
      arg: job.arg,
      key: this.#credentials === undefined ? key ?? "" : "",
      tgt_type: job.tgtType,
      ret: job.ret ?? "",
      jid: job.jid ?? "",
      kwargs: new Map([...job.kwargs ?? [], ...noLogEntries(job), ...this.#credentials ?? []]),
      user: this.#user,
    });
    writeTrace(load, job.trace);
    const frame = clearRequest(load);
    const { max_request_bytes } = this.#opts;
    if (frame.length > max_request_bytes) {
      // The master would close the connection, which would look like a missing master.
      throw new UsageError(
        `The job takes ${frame.length} bytes; the master takes ${max_request_bytes} (max_request_bytes)`,
      );
    }
    try {
      return decode(
        await this.#channel.request(frame, this.#credentials === undefined ? PUBLISH_TIMEOUTS : EAUTH_TIMEOUTS),
        "wire",
      );
    } catch (error) {
      if (!(error instanceof RequestTimeoutError)) throw error;
      throw new NoMasterError("Salt request timed out. The master is not responding.");
    }
  }

  /**
   * The returns of a job as they arrive, then the silent minions; each minion of the job exactly once.
   * @throws {NoMasterError} If the master is gone for longer than `timeouts` allows.
   */
  async *collect(
    job: PublishedJob,
    timeouts: CollectTimeouts,
    options: CollectOptions = {},
  ): AsyncGenerator<Returned | Silent> {
    const { signal, onOutput, ...told } = options;
    const closeEvents = () => this.#events.close();
    signal?.addEventListener("abort", closeEvents);
    try {
      const output = onOutput === undefined ? undefined : this.#follow(job.jid, onOutput);
      yield* this.#collect(job, timeouts, { signal, output, ...told });
    } finally {
      signal?.removeEventListener("abort", closeEvents);
    }
  }

  async *#collect(
    job: PublishedJob,
    timeouts: CollectTimeouts,
    { signal, output, ...told }: Omit<CollectOptions, "onOutput"> & {
      readonly output?: OutputFollower;
    },
  ): AsyncGenerator<Returned | Silent> {
    const watch = new JobWatch(job.minions, { timeoutMs: timeouts.timeoutMs, now: performance.now() });
    for (const id of job.acknowledged ?? []) watch.acknowledged(id, performance.now());
    const collection: Collection = {
      job,
      watch,
      questionJid: "",
      refused: false,
      gatherMs: timeouts.gatherMs,
      output,
      ...told,
      log: this.#log,
    };
    // Minions below syndics are named by events of the syndics, which come later.
    const holdUntil = this.#opts.order_masters ? performance.now() + this.#syndicWaitMs : 0;
    const isOver = () => watch.done && performance.now() >= holdUntil;
    let restarts = 0, heardMs = performance.now();
    while (!isOver() && !signal?.aborted) {
      await this.#askSilent(collection);
      if (isOver()) break;
      const nextAt = watch.done ? holdUntil : watch.nextAt;
      const waitMs = Math.max(0, Math.min(nextAt - performance.now(), 1_000));
      const event = await this.#events.next(waitMs, (tag) => concernsJob(tag, collection));
      watch.tick(performance.now());
      if (this.#events.restarts > restarts) {
        restarts = this.#events.restarts;
        watch.eventsLost(performance.now());
      }
      // Minions come and go all the time: that says nothing of the job.
      if (event !== undefined && event.tag !== PRESENCE_CHANGE_EVENT) heardMs = performance.now();
      else if (this.#opts.cluster_id && performance.now() - heardMs >= LOOK_MS) {
        yield* this.#unheard(collection);
        heardMs = performance.now();
      }
      if (event === undefined) {
        if (!(await isMasterRunning(this.#opts.sock_dir))) watch.eventsLost(performance.now());
        continue;
      }
      this.#log.trace(`Event ${event.tag}`);
      const returned = await takeEvent(event, collection);
      if (returned !== undefined) yield returned;
      watch.tick(performance.now());
    }
    if (signal?.aborted) return;
    if (this.#opts.order_masters && watch.isEmpty) {
      throw new TargetError("No minion of this master or below it matches", "");
    }
    for (const id of watch.unreturned) await output?.catchUp(id);
    yield* this.#remaining(job.jid, watch.unreturned);
  }

  /**
   * Asks minions that have been silent for too long whether they run the job.
   * @throws {NoMasterError}
   */
  async #askSilent(collection: Collection): Promise<void> {
    const { job, watch } = collection;
    const due = watch.toAsk(performance.now());
    if (due.length === 0) return;
    if (!(await isMasterRunning(this.#opts.sock_dir))) throw new NoMasterError(lostMasterText(job.jid));
    const absent = new Set(watch.giveUp(due, await this.#gone()));
    if (watch.done) return;
    if (absent.size > 0) collection.onAbsent?.([...absent]);
    const reachable = due.filter((id) => !absent.has(id));
    if (reachable.length === 0) return;
    this.#log.debug(() =>
      `Asking ${reachable.length} silent minions whether they run job ${job.jid} (saltutil.find_job)`
    );
    const questionJid = await this.#askWhetherRunning(collection, reachable);
    if (questionJid === undefined) return await this.#waitUnasked(collection, reachable);
    collection.questionJid = questionJid;
    const below = this.#opts.order_masters ? this.#syndicWaitMs : 0;
    watch.queried(reachable, performance.now() + collection.gatherMs + below);
  }

  get #syndicWaitMs(): number {
    return this.#opts.syndic_wait * 1000;
  }

  #follow(jid: string, listener: OutputListener): OutputFollower {
    const { outputs } = this.#jobs;
    // A user who may not read the stored output sees only new output.
    const readable: StoredOutputs = {
      read: async (job, id) => await ifReadable(() => outputs.read(job, id)) ?? [],
      ids: (job) => outputs.ids(job), // only who may read the job asks for all
    };
    return new OutputFollower(jid, { outputs: readable, listener });
  }

  /**
   * Attaches to a job of any user: stored output and returns first, then new ones.
   * @throws {TargetError} If the job cache has no such job.
   */
  async *attach(
    jid: string,
    timeouts: CollectTimeouts,
    { signal, onOutput }: CollectOptions = {},
  ): AsyncGenerator<Returned | Silent> {
    const jobs = this.#jobs;
    const load = await jobs.getLoad(jid);
    if (load === undefined) throw new TargetError(`There is no job ${jid} in the job cache`, "jid");
    const returned = await jobs.getReturns(jid);
    const output = onOutput === undefined ? undefined : this.#follow(jid, onOutput);
    await output?.catchUpAll();
    for (const [id, stored] of returned) yield toReturned(id, map({ ...stored }));
    const targets = new Set(onlyStrings(load.get("Minions")));
    const minions = [...targets].filter((id) => !returned.has(id));
    const acknowledged = [...(await jobs.acks.all(jid)).keys()];
    const closeEvents = () => this.#events.close();
    signal?.addEventListener("abort", closeEvents);
    try {
      yield* this.#collect({ jid, minions, missing: [], acknowledged }, timeouts, { signal, output });
      if (signal?.aborted) return;
      for (const id of jobMinions(load)) {
        if (!targets.has(id) && !returned.has(id)) yield { kind: "silent", id, outcome: "no such minion" };
      }
    } finally {
      signal?.removeEventListener("abort", closeEvents);
    }
  }

  /**
   * A `no_log` job itself: a Python minion answers with the job's arguments.
   * @returns The question's job id, empty if no answer will come; `undefined` if the master refuses the question.
   */
  async #askWhetherRunning(collection: Collection, ids: string[]): Promise<string | undefined> {
    const { jid, noLog } = collection.job;
    try {
      const query = await this.publish({ tgt: ids, tgtType: "list", fun: FIND_JOB, arg: [jid], noLog });
      return query.jid;
    } catch (error) {
      // Their keys may have been deleted, or the master may have ended: then no answer will come.
      if (error instanceof TargetError || error instanceof NoMasterError) return "";
      if (!(error instanceof RefusedError)) throw error;
      // Such as a token that expired after it had published the job.
      if (!collection.refused) {
        this.#log.warning(
          `The master does not let this user ask whether minions run job ${jid}: ${error.message}. Waiting for them`,
        );
      }
      collection.refused = true;
      return undefined;
    }
  }

  /** Goes on waiting for minions that cannot be asked, but not for those that have returned or are known to be away. */
  async #waitUnasked({ job: { jid }, watch }: Collection, ids: readonly string[]): Promise<void> {
    const outcomes = await this.#outcomes(jid, ids);
    const over = [...outcomes].flatMap(([id, { outcome }]) => mayReturn(outcome) ? [] : [id]);
    watch.unasked(ids, new Set(over), performance.now());
  }

  /** What the master's files say; empty for a user who may not read them. */
  async #outcomes(jid: string, ids: Iterable<string>, returns?: ReadonlyMap<string, JobReturn>) {
    const sources = { opts: this.#opts, publishPort: this.#publishPort, jobs: this.#jobs, data: this.#data, returns };
    return await ifReadable(() => jobOutcomes(jid, ids, sources)) ?? new Map<string, JobOutcome>();
  }

  /** The minions that were connected to this master and are not now; empty for a user who may not know. */
  async #gone(): Promise<ReadonlyMap<string, number>> {
    return await ifReadable(() => readPresence(this.#opts.cachedir).gone) ?? new Map();
  }

  /** Returns that are stored, and of which no event came. */
  async *#unheard({ job: { jid }, watch, output }: Collection): AsyncGenerator<Returned> {
    const answered = await ifReadable(() => this.#jobs.answered([{ jid, minions: [...watch.unreturned] }]));
    for (const id of answered?.get(jid)?.returned ?? []) {
      if (!watch.unreturned.has(id)) continue;
      const stored = await ifReadable(() => this.#jobs.getReturn(jid, id));
      if (stored === undefined || !watch.returned(id)) continue;
      await output?.catchUp(id);
      yield toReturned(id, map({ ...stored }));
    }
  }

  /** The minions without an event: their stored return, or their silence. */
  async *#remaining(jid: string, ids: ReadonlySet<string>): AsyncGenerator<Returned | Silent> {
    if (ids.size === 0) return;
    const stored = await ifReadable(() => this.#jobs.getReturns(jid));
    const outcomes = await this.#outcomes(jid, ids, stored);
    // With the database away this alone is known.
    const beyond = await ifReadable(() => minionsBeyond(this.#opts.cachedir));
    for (const id of [...ids].sort()) {
      const answer = stored?.get(id);
      if (answer !== undefined) yield toReturned(id, map({ ...answer }));
      else {yield {
          kind: "silent",
          id,
          outcome: outcomes.get(id)?.outcome ?? (beyond?.has(id) ? BEYOND : "not received"),
        };}
    }
  }

  close(): void {
    void this.#jobs.close().catch((error) => this.#log.debug(`The job store: ${messageOf(error)}`));
    this.#channel.close();
    this.#events.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

function lostMasterText(jid: string): string {
  return `The Salt master ended while job ${jid} ran. The minions continue it; when the master runs again: salt-run jobs.attach ${jid}`;
}

function noLogEntries({ noLog }: JobRequest): [string, string][] {
  return noLog === undefined ? [] : [[NO_LOG, noLog.publicKey]];
}

/** The user whose key file is read: for root, and users who became root by sudo, that of the master's user. */
function keyOwner(user: string, masterUser: string): string {
  return user === "root" || user.startsWith("sudo_") ? masterUser : user;
}
