/**
 * A minion's ear: listens at its master's publish port, and finds its way back to a master that was lost.
 *
 * A lost connection often means that the master restarted with a new shared key, so the minion signs in and subscribes anew
 * at once, before the next job. Knows nothing of what a job is. Source: salt-protocol.md sections 1, 4 and 14.
 * @module
 */

import { AuthenticationError, MsgpackError, SignInError, WireError } from "../errors.ts";
import { hashHex } from "../crypto/hash.ts";
import type { Logger } from "../process/log.ts";
import type { MasterLink } from "./link.ts";
import { keepAlive } from "./link_settings.ts";
import type { MinionOpts } from "../config/options.ts";
import { presenceTopic } from "../fleet/presence.ts";
import type { PublishReader } from "./publish_reader.ts";
import { tcpAddress } from "../sockets/request_channel.ts";
import type { Credentials } from "./sign_in.ts";
import { sleep } from "../os/sleep.ts";
import { HEARTBEAT } from "../sockets/settings.ts";
import { Inbox } from "../sockets/endpoint.ts";
import type { ValueMap } from "../values/value.ts";

/** Shortest time between two sign-ins that a lost connection caused, in milliseconds. */
const SIGN_IN_AGAIN_MS = 2_000;
/** How long a disturbance is left to settle before it is looked into, in milliseconds. */
const SETTLE_MS = 50;

/** What a subscription needs of its minion. */
export interface SubscriptionParts {
  /** Its options. */
  readonly opts: MinionOpts;
  readonly log: Logger;
  /** Signs in. */
  readonly link: MasterLink;
  /** Opens what is published. */
  readonly reader: PublishReader;
  /** Aborted when the minion ends. */
  readonly closing: AbortSignal;
  /** Takes a job. */
  take(load: ValueMap): void;
  /** Called when a new master has been found where the old one was. */
  onRestart(): void;
  /** Called with what ends the minion. */
  fail(error: unknown): void;
}

/** The SUB socket of a minion and its reader. */
export class Subscription {
  readonly #parts: SubscriptionParts;
  #inbox: Inbox | undefined;
  /** The topic by which the master knows that this minion is there, and whose keys it was made of. */
  #topic: string | undefined;
  #credentials: Credentials | undefined;
  /** Whether somebody looks into a disturbance, and whether there was one that nobody has looked into. */
  #looking = false;
  #disturbed = false;
  /** The shared key when the connection was last disturbed. */
  #keyBefore: string | undefined;

  /** Listens to nothing before {@linkcode listen}. */
  constructor(parts: SubscriptionParts) {
    this.#parts = parts;
  }

  /** Whether it listens. */
  get listening(): boolean {
    return this.#inbox !== undefined;
  }

  #subscribe(port: number): Inbox {
    const { id, master, recon_default, recon_max, recon_randomize } = this.#parts.opts;
    // Spread over time, so that a master that comes back is not met by all its minions at once.
    const reconnectMs = recon_randomize ? recon_default + Math.floor(Math.random() * recon_max) : recon_default;
    const inbox = Inbox.subscriber({
      identity: id,
      highWaterMark: 0,
      reconnectMs: Math.min(reconnectMs, recon_max),
      reconnectMaxMs: recon_max,
      keepalive: keepAlive(this.#parts.opts),
      ...HEARTBEAT,
      ipv6: this.#parts.opts.ipv6 ?? master.includes(":"),
    });
    if (this.#parts.opts.zmq_filtering) {
      for (const topic of ["broadcast", hashHex(id, "sha1")]) inbox.subscribe(topic);
    } else {
      inbox.subscribe("");
    }
    // Each is good for one subscription.
    if (this.#credentials !== undefined) inbox.subscribe(this.#topic = presenceTopic(id, this.#credentials));
    // What was subscribed before is of no interest: whoever subscribes anew has looked into that.
    inbox.onLost(() => this.#inbox === inbox && void this.#lookIntoDisturbance());
    inbox.connect(tcpAddress(master, port));
    return inbox;
  }

  /** A lost connection often means that the master restarted, with a new shared key: fetch it before the next job. */
  async #lookIntoDisturbance(): Promise<void> {
    if (!this.#disturbed) this.#keyBefore = this.#parts.link.credentials?.sharedKey;
    this.#disturbed = true;
    if (this.#looking || this.#parts.closing.aborted) return;
    this.#looking = true;
    try {
      // A master that is ending may still answer: one that seems to be the same is asked once more.
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

  /** Signs in and subscribes anew. @returns Whether the master is a new one; it is told then that this minion is here. */
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
        // The master is there: no need to sit out the time until libzmq tries again. The old subscription, should it live
        // after all, is read until the new one surely does; what comes twice is dropped by its serial.
        old = this.#inbox;
        this.#disturbed = false;
        this.listen(this.#parts.opts.publish_port ?? publishPort);
      }
      this.#parts.log.debug(restarted ? "The master is a new one" : "The master is the same");
      if (restarted) this.#parts.onRestart();
      await sleep(SIGN_IN_AGAIN_MS, signal);
      return restarted;
    } finally {
      old?.close();
    }
  }

  /** Takes the keys of a sign-in. @returns Whether the shared key is a new one. */
  trust(credentials: Credentials): boolean {
    const before = this.#credentials;
    this.#credentials = credentials;
    if (this.#inbox !== undefined && before?.sessionKey !== credentials.sessionKey) {
      const old = this.#topic;
      this.#inbox.subscribe(this.#topic = presenceTopic(this.#parts.opts.id, credentials));
      if (old !== undefined) this.#inbox.unsubscribe(old);
    }
    return this.#parts.reader.trust(credentials);
  }

  /** Subscribes at the master's port, and takes what comes until the subscription is closed. */
  listen(port: number): void {
    const inbox = this.#subscribe(port);
    this.#inbox = inbox;
    const take = async () => {
      for (;;) {
        const frames = await inbox.receive();
        if (frames === undefined) return;
        // With zmq_filtering the topic comes first; either way the payload is last.
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
        this.#parts.log.info(`A publish does not open (${error.message}); asking the master for its key`);
        await this.#parts.link.signIn(this.#parts.closing);
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

  /** Ends it. */
  close(): void {
    this.#inbox?.close();
  }
}
