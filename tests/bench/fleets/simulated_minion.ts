/**
 * A simulated minion: it has its own key, session, SUB and REQ sockets, and speaks the whole protocol. It runs no
 * function: its returns are invented.
 * @module
 */

import type { Backoff } from "#lib/minion/masters/backoff.ts";
import { AuthenticationError, SignInError } from "#lib/errors.ts";
import { stampNow } from "#lib/bus/event.ts";
import { minionStart } from "#lib/protocol/tags.ts";
import type { MasterLink } from "#lib/minion/masters/link.ts";
import { presenceTopic } from "#lib/fleet/presence.ts";
import type { PrivateKey } from "#lib/crypto/rsa.ts";
import { tcpAddress } from "#lib/sockets/request_channel.ts";
import type { SignInCredentials } from "#lib/minion/masters/sign_in.ts";
import { Inbox } from "#lib/sockets/endpoint.ts";
import { factsOf } from "#lib/targeting/facts.ts";
import { matchesTarget } from "#lib/targeting/target.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { applicantOf, linkOf } from "#tests/support/fleet/applicant.ts";

/** The settings that all minions of a swarm share. */
export interface SwarmSettings {
  /** The host of the master. */
  readonly host: string;
  /** The master's `ret_port`. */
  readonly port: number;
  /** The directory of `minion_master.pub`, which all of them share. */
  readonly pkiDir: string;
  /** The waits before the tries to sign in again after a lost connection. */
  readonly backoff: Backoff;
  /**
   * Opens a publish under the keys of `credentials`.
   * @throws {AuthenticationError} If they do not fit.
   */
  open(frame: Uint8Array, credentials: SignInCredentials): ValueMap;
  answer(load: ValueMap): Promise<Value>;
  /** Called for each step of a job. */
  note(load: ValueMap, what: "received" | "acknowledged" | "failed"): void;
}

/** It has neither grains nor a pillar. */
const NO_FACTS = factsOf(new Map());

/** Number of job ids that a minion remembers. */
const KNOWN_JOBS = 100;

/** The default of a minion, in milliseconds; a swarm waits longer, because its minions slow each other down. */
const TIMEOUTS = { timeoutMs: 120_000, tries: 3 };

export class SimulatedMinion {
  readonly id: string;
  readonly #settings: SwarmSettings;
  readonly #link: MasterLink;
  readonly #ending = new AbortController();
  #credentials: SignInCredentials | undefined;
  #inbox: Inbox | undefined;
  #lastSerial = 0;
  /** The subscription by which the master knows that it is connected: the master then sends missed jobs. */
  #topic: string | undefined;
  /** Its last jobs: a repeated one does not run again. */
  readonly #jids: string[] = [];
  #signingIn: Promise<void> | undefined;

  constructor(id: string, key: PrivateKey, settings: SwarmSettings) {
    this.id = id;
    this.#settings = settings;
    const { host, port, pkiDir, backoff } = settings;
    this.#link = linkOf(applicantOf(id, key, pkiDir), { host, port, backoff, ...TIMEOUTS });
  }

  /**
   * Signs in, subscribes, and sends the start event.
   * @throws {SignInError} If the master rejects it.
   */
  async start(): Promise<void> {
    await this.#signIn();
    const { publishPort } = this.#credentials ?? { publishPort: 0 };
    const inbox = Inbox.subscriber({ identity: this.id, highWaterMark: 0, reconnectMs: 100 });
    this.#inbox = inbox;
    inbox.subscribe("");
    this.#announce();
    inbox.connect(tcpAddress(this.#settings.host, publishPort));
    // After a lost connection the master may have a new key.
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
    // Each monitor works for one connection.
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

  /** Ends the minion. May be called more than once. */
  close(): void {
    this.#ending.abort();
    this.#inbox?.close();
    this.#link.close();
  }
}
