/**
 * A minion's connection to one master at a time: the signed-in link for requests, the subscription for jobs, the keys
 * of both, the pillar that this master compiles, and the returns that wait for it. With several masters to choose from
 * (`master_type: failover` or `distributed`) it takes the first that signs the minion in, takes the next one when the
 * master in use is lost, and goes back to the first. Knows nothing of jobs, and nothing of other connections.
 * Source: docs/protocol.md "A minion from nothing"; Salt 3008.3 `salt/minion.py` eval_master, handle_event.
 * @module
 */

import { type MasterEntry, masterName } from "#lib/config/master_entries.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { MasterLeftError, messageOf, SignInError } from "#lib/errors.ts";
import type { KeptReturns } from "#lib/jobs/kept_returns.ts";
import { replacementFor } from "#lib/jobs/oversized_return.ts";
import type { HostData } from "#lib/minion/worker/job_protocol.ts";
import type { Journal } from "#lib/os/journal.ts";
import { sleep } from "#lib/os/sleep.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";
import type { CheckedJob } from "#lib/operators/check_job.ts";
import type { OperatorCheck } from "#lib/operators/operator_check.ts";
import { requireDone } from "#lib/protocol/acknowledgement.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import type { JidMemory } from "#lib/minion/masters/jid_memory.ts";
import { MasterLink, type SignInTimeouts } from "#lib/minion/masters/link.ts";
import { linkSettings } from "#lib/minion/masters/link_settings.ts";
import { addressesOf } from "#lib/minion/masters/master_addresses.ts";
import { PublishReader } from "./publish_reader.ts";
import { ReturnSpool, spoolRules } from "./return_spool.ts";
import type { Applicant } from "./sign_in.ts";
import { masterSpool, spoolDirectory } from "./spool_directories.ts";
import { Subscription } from "./subscription.ts";

/** The event on the minion's bus when its master is lost, and when the first master answers again. */
const DISCONNECTED = "__master_disconnected", FAILBACK = "__master_failback";

/** The part of the minion that all its connections share. */
export interface ConnectionParts {
  readonly opts: MinionOpts;
  readonly log: Logger;
  /** Who signs in. */
  readonly applicant: Applicant;
  /** The job ids that the minion has accepted. */
  readonly jids: JidMemory;
  readonly journal: Journal | undefined;
  /** Keeps the beginning of a return that is too large. */
  readonly kept: KeptReturns;
  /** Aborted when the minion ends. */
  readonly closing: AbortSignal;
  /** The grains, for targets. */
  grains(): ValueMap;
  /** Checks operators' signatures. Default: none is asked for. */
  readonly operators?: OperatorCheck;
  /** Notes a job before its id is remembered. */
  admit(jid: string, load: ValueMap, from: Admission): void;
  /** Returns a job that is not run, and why. */
  refuse?(load: ValueMap, why: string, from: RefusedFrom): void;
  /** Runs a job. */
  take(load: ValueMap): void;
  /** A master serves in place of another one, or has restarted. */
  onServing(connection: MasterConnection, why: "restarted" | "changed"): void;
  /** Fires an event on the minion's own bus. */
  fireLocal(tag: string, data: ValueMap): Promise<boolean>;
  /** All connections of the minion. Default: none besides. */
  siblings?(): readonly MasterConnection[];
  /** Called with an error that ends the connection. */
  fail(error: unknown, connection: MasterConnection): void;
}

/** Where a job came from, and who signed it. */
export interface Admission {
  readonly connection: MasterConnection;
  /** What the check of its signature found; none without a check. */
  readonly signed: CheckedJob | undefined;
}

/** Where a job came from that is not run. */
export interface RefusedFrom extends Admission {
  readonly signed: CheckedJob;
}

/** One master, while the connection uses it. */
interface Opened {
  readonly entry: MasterEntry;
  readonly link: MasterLink;
  readonly subscription: Subscription;
  readonly ended: AbortController;
}

/** A connection to one of `masters` at a time. */
export class MasterConnection {
  readonly #parts: ConnectionParts;
  readonly #masters: readonly MasterEntry[];
  /** Returns, until the master has acknowledged them. */
  readonly spool: ReturnSpool;
  /** The pillar that the master compiled last; `undefined` before the first. */
  pillar: ValueMap | undefined;
  /** Grains and pillar for jobs of this master, packed. */
  hostData: HostData | undefined;
  #current: Opened;
  /** While there is no master in use: resolves when there is one. */
  #gap: Promise<void> | undefined;
  #lostTimer: Timer | undefined;
  #backTimer: Timer | undefined;

  /**
   * @param masters In the order in which they are tried; at least one.
   * @param options.isOneOfSeveral Whether the minion has other connections.
   */
  constructor(
    parts: ConnectionParts,
    masters: readonly MasterEntry[],
    { isOneOfSeveral }: { readonly isOneOfSeveral: boolean },
  ) {
    this.#parts = parts;
    this.#masters = masters;
    const { opts, kept, log } = parts, own = masterName(masters[0]);
    this.spool = new ReturnSpool({
      directory: MasterConnection.spoolDirectory(opts, masters[0], isOneOfSeveral),
      journal: parts.journal,
      send: (load) => this.#deliver(load),
      replace: (load, error) => replacementFor(load, error, { id: opts.id, kept, log }),
      answers: () => this.#standIn === undefined ? this.#current.link.answers(parts.closing) : Promise.resolve(true),
      ...spoolRules(opts),
      log,
      ...isOneOfSeveral && { of: masterSpool(own), receiver: `the master ${own}` },
    });
    this.#current = this.#open(masters[0]);
  }

  /** The directory of the returns for a master. */
  static spoolDirectory(opts: MinionOpts, master: MasterEntry, isOneOfSeveral: boolean): string {
    const root = spoolDirectory(opts);
    return isOneOfSeveral ? `${root}/${masterSpool(masterName(master))}` : root;
  }

  /** The master in use. */
  get master(): MasterEntry {
    return this.#current.entry;
  }

  /** Its `host:port`. */
  get name(): string {
    return masterName(this.master);
  }

  /** Whether the minion is signed in, and the connection is not known to be lost. */
  get connected(): boolean {
    return this.#current.link.connected;
  }

  /** The key of the master's publishes, which the masters of a cluster have in common. */
  get sharedKey(): string | undefined {
    return this.#current.link.credentials?.sharedKey;
  }

  /** While the master is lost: the connection to another one of its cluster, which takes the same returns. */
  get #standIn(): MasterConnection | undefined {
    const { sharedKey } = this;
    if (this.connected || sharedKey === undefined) return undefined;
    return this.#parts.siblings?.().find((other) => other.connected && other.sharedKey === sharedKey);
  }

  /** Whether it receives jobs. */
  get listening(): boolean {
    return this.#current.subscription.listening;
  }

  /** Bytes of the largest request that the master accepts, if known. */
  get maxRequestBytes(): number | undefined {
    return this.#current.link.maxRequestBytes;
  }

  get #choosesMaster(): boolean {
    return this.#masters.length > 1;
  }

  /**
   * Signs in, and receives jobs from then on.
   * @throws {SignInError} If waiting cannot help, or no master signs the minion in within `master_tries` rounds.
   */
  async connect(): Promise<void> {
    if (this.#choosesMaster) return await this.#choose(this.#masters, this.#parts.opts.master_tries);
    const { publishPort } = await this.#current.link.signIn(this.#parts.closing);
    this.#listen(this.#current, publishPort);
  }

  #listen({ subscription }: Opened, publishPort: number): void {
    subscription.listen(this.#parts.opts.publish_port ?? publishPort);
  }

  #open(entry: MasterEntry): Opened {
    const { applicant, jids, closing: minionCloses } = this.#parts;
    const opts: MinionOpts = { ...this.#parts.opts, master: entry.host, master_port: entry.port };
    const { log } = this.#parts, ended = new AbortController();
    const closing = this.#choosesMaster ? AbortSignal.any([minionCloses, ended.signal]) : minionCloses;
    const addresses = addressesOf(entry, opts);
    const reader = new PublishReader({
      id: opts.id,
      data: () => ({ grains: this.#parts.grains(), pillar: this.pillar ?? new Map() }),
      requireSignature: opts.sign_pub_messages,
      jids,
      operators: this.#parts.operators,
      admit: (jid, load, signed) => this.#parts.admit(jid, load, { connection: this, signed }),
      refuse: (load, why, signed) => this.#parts.refuse?.(load, why, { connection: this, signed }),
      onAnnouncement: (withinS) => link.sharedKey.expectNext(withinS, closing),
      log,
    });
    const link: MasterLink = new MasterLink(linkSettings(opts, {
      applicant,
      log,
      addresses,
      ...this.#choosesMaster && { timeouts: oneTry() },
      onSignedIn: (credentials) => {
        clearTimeout(this.#lostTimer);
        this.#lostTimer = undefined;
        // A master that sends a new key is running, and accepts the waiting returns.
        if (subscription.trust(credentials)) this.spool.flush();
      },
    }));
    const subscription: Subscription = new Subscription({
      opts,
      log,
      link,
      reader,
      closing,
      host: () => addresses.host,
      take: (load) => this.#parts.take(load),
      onLost: () => this.#onLost(opened),
      onRestart: () => this.#parts.onServing(this, "restarted"),
      fail: (error) => this.#choosesMaster ? this.#leave(opened) : this.#parts.fail(error, this),
    });
    const opened: Opened = { entry, link, subscription, ended };
    return opened;
  }

  /** Takes the first of `order` that signs the minion in; after a round without one, it waits. */
  async #choose(order: readonly MasterEntry[], rounds: number): Promise<void> {
    const { log, closing, opts } = this.#parts;
    let waitS = opts.acceptance_wait_time;
    for (let round = 1;; round++) {
      for (const entry of order) {
        if (await this.#try(entry)) return;
        log.info(`Attempted to authenticate with master ${entry.host} and failed`);
      }
      const failure = "No master could be reached or all masters denied the minion's connection attempt.";
      if (rounds >= 0 && round >= rounds) throw new SignInError(failure, 1);
      log.error(`${failure} Trying again in ${waitS} seconds`);
      await sleep(waitS * 1000, closing);
      waitS = Math.min(waitS * 2, Math.max(opts.acceptance_wait_time_max, opts.acceptance_wait_time));
    }
  }

  /** Signs in at a master, and takes it in place of the present one. */
  async #try(entry: MasterEntry): Promise<boolean> {
    const { closing, log } = this.#parts;
    const opened = this.#open(entry);
    try {
      const { publishPort } = await opened.link.signIn(closing);
      const before = this.#current;
      this.#current = opened;
      this.#listen(opened, publishPort);
      close(before);
      this.#watchFirst();
      return true;
    } catch (error) {
      close(opened);
      closing.throwIfAborted();
      log.error(`The master ${masterName(entry)} does not take this minion: ${messageOf(error)}`);
      return false;
    }
  }

  /** A lost master has `master_alive_interval` to answer again. */
  #onLost(opened: Opened): void {
    const seconds = this.#parts.opts.master_alive_interval;
    if (!this.#choosesMaster || seconds === 0 || opened !== this.#current) return;
    this.#lostTimer ??= setTimeout(() => this.#leave(opened), seconds * 1000);
  }

  /** Leaves a master for the next one. */
  #leave(opened: Opened): void {
    if (opened !== this.#current || this.#gap !== undefined || this.#parts.closing.aborted) return;
    clearTimeout(this.#lostTimer);
    this.#lostTimer = undefined;
    const { entry } = opened;
    this.#parts.log.warning(`Connection to master ${masterName(entry)} lost, trying the next one of the list`);
    void this.#parts.fireLocal(DISCONNECTED, map({ master: entry.host }));
    close(opened);
    const others = this.#masters.filter((master) => master !== entry);
    this.#gap = this.#choose([...others, entry], -1).then(() => {
      this.#gap = undefined;
      this.#serveChanged();
    }).catch((error) => {
      if (!this.#parts.closing.aborted) this.#parts.fail(error, this);
    });
  }

  #serveChanged(): void {
    this.#parts.log.info(`The master is ${this.name} now`);
    this.spool.flush();
    this.#parts.onServing(this, "changed");
  }

  /** `master_failback`: asks the first master whether it answers, until it does. */
  #watchFirst(): void {
    clearTimeout(this.#backTimer);
    const { opts, closing } = this.#parts;
    const seconds = opts.master_failback_interval || opts.master_alive_interval;
    if (!opts.master_failback || seconds === 0 || this.master === this.#masters[0] || closing.aborted) return;
    this.#backTimer = setTimeout(() => void this.#goBack(), seconds * 1000);
  }

  /** Never rejects. */
  async #goBack(): Promise<void> {
    const { opts, closing, log } = this.#parts, [first] = this.#masters;
    try {
      const asking = this.#open(first);
      const answers = await asking.link.answers(closing, opts.auth_timeout * 1000).finally(() => close(asking));
      if (answers && this.#gap === undefined) {
        log.info(`The first master ${masterName(first)} answers again`);
        void this.#parts.fireLocal(FAILBACK, map({ master: first.host }));
        if (await this.#try(first)) return this.#serveChanged();
      }
      this.#watchFirst();
    } catch (error) {
      if (!closing.aborted) this.#parts.fail(error, this);
    }
  }

  async #deliver(load: ValueMap): Promise<void> {
    try {
      await this.ask(load);
    } catch (error) {
      if (error instanceof SignInError) this.#parts.fail(error, this);
      throw error;
    }
  }

  /**
   * Sends a request that the master must acknowledge.
   * @throws {WireError} If it answers that it could not do it.
   */
  async ask(load: ValueMap): Promise<void> {
    requireDone(load.get("cmd"), await this.request(load));
  }

  /**
   * Sends a request, to another master of the cluster if this one is lost.
   * @throws What `MasterLink.request` throws.
   */
  async request(load: ValueMap): Promise<Value> {
    await this.#gap;
    const standIn = this.#standIn;
    if (standIn !== undefined) return await standIn.request(load);
    return await this.#askCurrent((link) => link.request(load, this.#parts.closing));
  }

  /** Asks the master in use. One of several to choose from that refuses the minion by now is left for the next one. */
  async #askCurrent<T>(ask: (link: MasterLink) => Promise<T>): Promise<T> {
    const opened = this.#current;
    try {
      return await ask(opened.link);
    } catch (error) {
      if (!(error instanceof SignInError) || !this.#choosesMaster) throw error;
      this.#leave(opened);
      // As if it were away: what waits is sent to the next one.
      throw new MasterLeftError(`The master ${masterName(opened.entry)} refuses this minion: ${error.message}`);
    }
  }

  /**
   * Signs in with the minion's present key.
   * @throws {SignInError} If waiting cannot help.
   */
  async signInAnew(): Promise<void> {
    await this.#gap;
    await this.#current.link.signInAnew(this.#parts.closing);
  }

  /**
   * Requests this minion's pillar.
   * @throws What `MasterLink.requestPillar` throws.
   */
  async requestPillar(load: ValueMap): Promise<ValueMap> {
    await this.#gap;
    return await this.#askCurrent((link) => link.requestPillar(load, this.#parts.closing));
  }

  /** Closes its sockets. Returns stay in the spool. */
  close(): void {
    clearTimeout(this.#lostTimer);
    clearTimeout(this.#backTimer);
    close(this.#current);
  }
}

/** One of several masters is tried once, and one that does not accept the key is left for the next. */
function oneTry(): Partial<SignInTimeouts> {
  return { authTries: 1, masterTries: 1, failOnPending: "at once", rejectedRetry: true };
}

function close({ subscription, link, ended }: Opened): void {
  ended.abort(new Error("Another master is used"));
  subscription.close();
  link.close();
}
