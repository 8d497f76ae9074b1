/**
 * A minion as its master sees it: key, session, SUB and REQ sockets of its own, and the whole protocol. It runs nothing:
 * what it answers is made up.
 * @module
 */

import type { Backoff } from "../../../lib/minion/backoff.ts";
import { AuthenticationError, SignInError } from "../../../lib/errors.ts";
import { stampNow } from "../../../lib/bus/event.ts";
import { minionStart } from "../../../lib/protocol/tags.ts";
import { SILENT_LOGGER } from "../../../lib/process/log.ts";
import { MasterLink } from "../../../lib/minion/link.ts";
import { presenceTopic } from "../../../lib/fleet/presence.ts";
import type { PrivateKey } from "../../../lib/crypto/rsa.ts";
import { tcpAddress } from "../../../lib/sockets/request_channel.ts";
import type { Credentials } from "../../../lib/minion/sign_in.ts";
import { Inbox } from "../../../lib/sockets/endpoint.ts";
import { factsOf } from "../../../lib/target/facts.ts";
import { matchesTarget } from "../../../lib/target/target.ts";
import { map, str, type Value, type ValueMap } from "../../../lib/values/value.ts";
import { applicantOf } from "../../support/fleet/applicant.ts";

/** What the minions of a swarm have in common. */
export interface SwarmSettings {
  /** Where the master is. */
  readonly host: string;
  /** The master's `ret_port`. */
  readonly port: number;
  /** Where `minion_master.pub` is kept, for all of them. */
  readonly pkiDir: string;
  /** The waits before the tries to sign in again after a lost connection. */
  readonly backoff: Backoff;
  /** Opens a publish under the keys of `credentials`. @throws {AuthenticationError} If they do not fit. */
  open(frame: Uint8Array, credentials: Credentials): ValueMap;
  answer(load: ValueMap): Promise<Value>;
  /** Told of each job as it goes. */
  note(load: ValueMap, what: "received" | "acknowledged" | "failed"): void;
}

/** It has neither grains nor a pillar. */
const NO_FACTS = factsOf(new Map());

/** So many jobs a minion knows again. */
const KNOWN_JOBS = 100;

/** As a minion's defaults have it, in milliseconds; a swarm waits longer, since it is its own crowd. */
const TIMEOUTS = { timeoutMs: 120_000, tries: 3 };
/** How long a minion of a bench waits for its master. */
export const SIGN_IN_TIMEOUTS = {
  authTimeoutMs: 120_000,
  authTries: 3,
  masterTries: 10,
  acceptanceWaitMs: 2_000,
  acceptanceWaitMaxMs: 2_000,
  rejectedRetry: false,
  rejectedWaitMs: [0, 0],
  failOnPending: false,
} as const;

/** One of them. */
export class SimulatedMinion {
  readonly id: string;
  readonly #settings: SwarmSettings;
  readonly #link: MasterLink;
  readonly #ending = new AbortController();
  #credentials: Credentials | undefined;
  #inbox: Inbox | undefined;
  #lastSerial = 0;
  /** What it is known to be there by: to a master that brings it what it has missed. */
  #topic: string | undefined;
  /** The last jobs that it had: one that comes again is not run again. */
  readonly #jids: string[] = [];
  #signingIn: Promise<void> | undefined;

  constructor(id: string, key: PrivateKey, settings: SwarmSettings) {
    this.id = id;
    this.#settings = settings;
    this.#link = new MasterLink({
      address: tcpAddress(settings.host, settings.port),
      applicant: applicantOf(id, key, settings.pkiDir),
      timeouts: SIGN_IN_TIMEOUTS,
      backoff: settings.backoff,
      requestTimeouts: TIMEOUTS,
      signMessages: false,
      log: SILENT_LOGGER,
    });
  }

  /**
   * Signs in, listens, and tells the master that it is there.
   * @throws {SignInError} If the master does not want it.
   */
  async start(): Promise<void> {
    await this.#signIn();
    const { publishPort } = this.#credentials ?? { publishPort: 0 };
    const inbox = Inbox.subscriber({ identity: this.id, highWaterMark: 0, reconnectMs: 100 });
    this.#inbox = inbox;
    inbox.subscribe("");
    this.#announce();
    inbox.connect(tcpAddress(this.#settings.host, publishPort));
    // A connection that was lost may mean a master with a new key.
    inbox.onLost(() => {
      this.#link.reconnect();
      void this.#signIn().catch(() => {});
    });
    void this.#listen(inbox);
    const tag = minionStart(this.id);
    const data = `Minion ${this.id} started at ${new Date().toString()}`;
    await this.#link.request(
      map({ id: this.id, cmd: "_minion_event", pretag: null, data, tag }),
      this.#ending.signal,
    );
  }

  #signIn(): Promise<void> {
    this.#signingIn ??= this.#link.signIn(this.#ending.signal).then((credentials) => {
      if (credentials.sharedKey !== this.#credentials?.sharedKey) this.#lastSerial = 0;
      this.#credentials = credentials;
      this.#announce();
    }).finally(() => this.#signingIn = undefined);
    return this.#signingIn;
  }

  #announce(): void {
    if (this.#inbox === undefined || this.#credentials === undefined) return;
    // Each is good for one connection.
    const topic = presenceTopic(this.id, this.#credentials);
    this.#inbox.subscribe(topic);
    if (this.#topic !== undefined) this.#inbox.unsubscribe(this.#topic);
    this.#topic = topic;
  }

  async #listen(inbox: Inbox): Promise<void> {
    for (;;) {
      const frames = await inbox.receive();
      if (frames === undefined) return;
      try {
        const load = await this.#open(frames[frames.length - 1]);
        if (load !== undefined) void this.#run(load);
      } catch (error) {
        if (this.#ending.signal.aborted) return;
        if (!(error instanceof AuthenticationError || error instanceof SignInError)) throw error;
      }
    }
  }

  async #open(frame: Uint8Array): Promise<ValueMap | undefined> {
    const load = await this.#decrypt(frame);
    const serial = load.get("serial");
    if (typeof serial === "number") {
      if (serial <= this.#lastSerial) return undefined;
      this.#lastSerial = serial;
    }
    const target = { tgt: load.get("tgt") ?? "", tgtType: str(load.get("tgt_type") ?? "glob") };
    if (!matchesTarget(target, { id: this.id, grains: NO_FACTS, pillar: NO_FACTS })) return undefined;
    const jid = str(load.get("jid") ?? "");
    if (this.#jids.includes(jid)) return undefined;
    if (this.#jids.push(jid) > KNOWN_JOBS) this.#jids.shift();
    return load;
  }

  async #decrypt(frame: Uint8Array): Promise<ValueMap> {
    const { open } = this.#settings;
    try {
      if (this.#credentials === undefined) throw new AuthenticationError("Not signed in");
      return open(frame, this.#credentials);
    } catch (error) {
      if (!(error instanceof AuthenticationError)) throw error;
      await this.#signIn();
      if (this.#credentials === undefined) throw error;
      return open(frame, this.#credentials);
    }
  }

  async #run(load: ValueMap): Promise<void> {
    const { note, answer } = this.#settings;
    note(load, "received");
    try {
      const returned = map({
        cmd: "_return",
        id: this.id,
        success: true,
        return: await answer(load),
        retcode: 0,
        jid: load.get("jid"),
        fun: load.get("fun"),
        fun_args: load.get("arg"),
        user: load.get("user"),
        _stamp: stampNow(),
      });
      await this.#link.request(returned, this.#ending.signal);
      note(load, "acknowledged");
    } catch {
      if (!this.#ending.signal.aborted) note(load, "failed");
    }
  }

  /** Ends it. May be called more than once. */
  close(): void {
    this.#ending.abort();
    this.#inbox?.close();
    this.#link.close();
  }
}
