/**
 * Receives jobs from the master's publish port, and reconnects to a lost master. A lost connection often means that the
 * master restarted with a new shared key, so the minion signs in and subscribes again at once, before the next job.
 * Knows nothing of jobs.
 * Source: docs/protocol.md "Publishes", docs/protocol.md "The shared key and session keys".
 * @module
 */

import { AuthenticationError, MsgpackError, SignInError, WireError } from "#lib/errors.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { MasterLink } from "#lib/minion/masters/link.ts";
import { keepAlive } from "#lib/minion/masters/link_settings.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { presenceTopic } from "#lib/fleet/presence.ts";
import { PublishReader } from "#lib/minion/masters/publish_reader.ts";
import { tcpAddress } from "#lib/sockets/request_channel.ts";
import type { SignInCredentials } from "#lib/minion/masters/sign_in.ts";
import { sleep } from "#lib/os/sleep.ts";
import { HEARTBEAT } from "#lib/sockets/settings.ts";
import { Inbox } from "#lib/sockets/endpoint.ts";
import type { ValueMap } from "#lib/values/value.ts";

/** Minimum time between two sign-ins caused by lost connections, in milliseconds. */
const SIGN_IN_AGAIN_MS = 2_000;
/** Wait before a lost connection is checked, in milliseconds. */
const SETTLE_MS = 50;

/** The parts of the minion that a subscription uses. */
export interface SubscriptionParts {
  readonly opts: MinionOpts;
  readonly log: Logger;
  /** Signs in. */
  readonly link: MasterLink;
  /** The address to connect to: the one where the link reaches the master. */
  host(): string;
  /** Decrypts and checks publishes. */
  readonly reader: PublishReader;
  /** Aborted when the minion ends. */
  readonly closing: AbortSignal;
  /** Takes a job. */
  take(load: ValueMap): void;
  /** With `zmq_filtering`: the topics. Default: those of a minion. */
  readonly topics?: readonly string[];
  /** Called when the connection was lost. */
  onLost?(): void;
  /** Called when a new master process has replaced the old one. */
  onRestart(): void;
  /** Called with an error that ends the minion. */
  fail(error: unknown): void;
}

/** The SUB socket of a minion and its reader. */
export class Subscription {
  readonly #parts: SubscriptionParts;
  #inbox: Inbox | undefined;
  /** The topic that shows this minion's presence to the master, and the keys that it was made with. */
  #topic: string | undefined;
  #credentials: SignInCredentials | undefined;
  /** Whether a lost connection is being checked, and whether another one was lost meanwhile. */
  #looking = false;
  #disturbed = false;
  /** The shared key when the connection was last lost. */
  #keyBefore: string | undefined;

  /** Does not listen before {@linkcode listen}. */
  constructor(parts: SubscriptionParts) {
    this.#parts = parts;
  }

  get listening(): boolean {
    return this.#inbox !== undefined;
  }

  #subscribe(port: number): Inbox {
    const { id, recon_default, recon_max, recon_randomize } = this.#parts.opts;
    // A random interval, so that not all minions connect to a restarted master at once.
    const host = this.#parts.host();
    const reconnectMs = recon_randomize ? recon_default + Math.floor(Math.random() * recon_max) : recon_default;
    const inbox = Inbox.subscriber({
      identity: id,
      highWaterMark: 0,
      reconnectMs: Math.min(reconnectMs, recon_max),
      reconnectMaxMs: recon_max,
      keepalive: keepAlive(this.#parts.opts),
      ...HEARTBEAT,
      ipv6: this.#parts.opts.ipv6 ?? host.includes(":"),
    });
    if (this.#parts.opts.zmq_filtering) {
      for (const topic of this.#parts.topics ?? ["broadcast", hashHex(id, "sha1")]) inbox.subscribe(topic);
    } else {
      inbox.subscribe("");
    }
    // Each topic is valid for one subscription.
    if (this.#credentials !== undefined) inbox.subscribe(this.#topic = presenceTopic(id, this.#credentials));
    // Only the current subscription counts; older ones were checked when it was made.
    inbox.onLost(() => this.#inbox === inbox && void this.#lookIntoDisturbance());
    inbox.connect(tcpAddress(host, port));
    return inbox;
  }

  /** A lost connection often means that the master restarted with a new shared key: fetch it before the next job. */
  async #lookIntoDisturbance(): Promise<void> {
    if (!this.#disturbed) this.#keyBefore = this.#parts.link.credentials?.sharedKey;
    this.#disturbed = true;
    this.#parts.onLost?.();
    if (this.#looking || this.#parts.closing.aborted) return;
    this.#looking = true;
    try {
      // An ending master may still answer, so a master that seems unchanged is asked once more.
      for (let calm = 0; calm < 2; calm++) {
        const restarted = await this.#reconnect();
        if (this.#disturbed) calm = -1;
        else if (restarted) break;
      }
    } catch (error) {
      if (!this.#parts.closing.aborted) this.#parts.fail(error);
    } finally {
      this.#looking = false;
    }
  }

  /**
   * Signs in and subscribes again.
   * @returns Whether the master is a new one; then a start event is sent to it.
   */
  async #reconnect(): Promise<boolean> {
    const signal = this.#parts.closing;
    const link = this.#parts.link;
    let old: Inbox | undefined;
    try {
      await sleep(SETTLE_MS, signal);
      const lost = this.#disturbed;
      this.#disturbed = false;
      this.#parts.log.debug("The connection to the master was disturbed; signing in again");
      if (lost) link.reconnect();
      const { publishPort, sharedKey } = await link.signIn(signal);
      const restarted = sharedKey !== this.#keyBefore;
      this.#keyBefore = sharedKey;
      if (lost || restarted) {
        // The master is running, so do not wait for libzmq's next try. The old subscription may still work: it is read
        // until the new one is active. Publishes that come twice are dropped by their serial.
        old = this.#inbox;
        this.#disturbed = false;
        this.#listen(this.#parts.opts.publish_port ?? publishPort);
      }
      this.#parts.log.debug(restarted ? "The master is a new one" : "The master is the same");
      if (restarted) this.#parts.onRestart();
      await sleep(SIGN_IN_AGAIN_MS, signal);
      return restarted;
    } finally {
      old?.close();
    }
  }

  /**
   * Sets the keys of a sign-in.
   * @returns Whether the shared key is new.
   */
  trust(credentials: SignInCredentials): boolean {
    const before = this.#credentials;
    this.#credentials = credentials;
    if (this.#inbox !== undefined && before?.sessionKey !== credentials.sessionKey) {
      const old = this.#topic;
      this.#inbox.subscribe(this.#topic = presenceTopic(this.#parts.opts.id, credentials));
      if (old !== undefined) this.#inbox.unsubscribe(old);
    }
    return this.#parts.reader.trust(credentials);
  }

  /** Subscribes at the master's port, in place of an earlier subscription, and reads publishes until it is closed. */
  listen(port: number): void {
    const old = this.#inbox;
    this.#listen(port);
    old?.close();
  }

  #listen(port: number): void {
    const inbox = this.#subscribe(port);
    this.#inbox = inbox;
    const take = async () => {
      for (;;) {
        const frames = await inbox.receive();
        if (frames === undefined) return;
        // With zmq_filtering the topic is the first frame; the payload is always the last.
        const load = await this.#read(frames[frames.length - 1]);
        if (load !== undefined) this.#parts.take(load);
      }
    };
    take().catch((error) => this.#parts.closing.aborted || this.#parts.fail(error));
  }

  async #read(frame: Uint8Array): Promise<ValueMap | undefined> {
    try {
      try {
        return this.#parts.reader.read(frame);
      } catch (error) {
        if (!(error instanceof AuthenticationError)) throw error;
        if (this.#parts.link.sharedKey.takeNext((key) => PublishReader.isFor(frame, key))) {
          return this.#parts.reader.read(frame);
        }
        this.#parts.log.info(`A publish cannot be decrypted (${error.message}); asking the master for its key`);
        await this.#parts.link.sharedKey.renew(this.#parts.closing);
        return this.#parts.reader.read(frame);
      }
    } catch (error) {
      if (error instanceof SignInError) throw error;
      if (error instanceof AuthenticationError || error instanceof WireError || error instanceof MsgpackError) {
        this.#parts.log.error(`Dropped a publish: ${error.message}`);
        return undefined;
      }
      throw error;
    }
  }

  close(): void {
    this.#inbox?.close();
  }
}
