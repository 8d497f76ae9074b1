/**
 * Replaces the shared key: announces the next one, so that minions ask for it one by one, and then uses it. And takes
 * the next key pair at the end of its overlap.
 * Source: docs/protocol.md "The shared key and session keys".
 * @module
 */

import { publishPullPath } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { messageOf } from "#lib/errors.ts";
import { fingerprint } from "#lib/crypto/pem.ts";
import { forgetFollowers } from "#lib/keys/followers.ts";
import { settleMasterPair } from "#lib/keys/master_rotation.ts";
import type { SharedKey } from "#lib/keys/shared_key.ts";
import { sleep } from "#lib/os/sleep.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { announcement } from "#lib/protocol/rekey.ts";
import { ROTATE_EVENT } from "#lib/protocol/tags.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { Outbox } from "#lib/sockets/endpoint.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { type RotationReason, TOO_OLD } from "./maintenance.ts";

/** How long before its use a key is announced, in seconds: when the last one is old, and when a minion was deleted. */
const LONG_ANNOUNCEMENT_S = 30, SHORT_ANNOUNCEMENT_S = 3;

/**
 * Takes the next key pair of the master, if its time has come. Threads and minions go by the time itself: what is done
 * here is done to the files. Never throws: the next call does it.
 */
export function settlePair(opts: Pick<MasterOpts, "pki_dir" | "id" | "cachedir" | "hash_type">, log: Logger): void {
  try {
    const taken = settleMasterPair(opts, Date.now());
    if (taken === undefined) return;
    log.info(
      `The next key pair, ${fingerprint(taken.next, opts.hash_type)}, is the master's now; the old one is removed`,
    );
    forgetFollowers(opts.cachedir, taken.next);
  } catch (error) {
    log.error(`The next key pair of the master is not taken: ${messageOf(error)}`);
  }
}

/** What a {@linkcode KeyRotation} works with. */
export interface KeyRotationParts {
  readonly opts: Pick<MasterOpts, "order_masters" | "ping_on_rotate" | "publish_session" | "sock_dir" | "user">;
  readonly sharedKey: SharedKey;
  readonly log: Logger;
  /** Fires an event on the master's bus. */
  fire(tag: string, data: ValueMap): Promise<void>;
  /** Makes the next key of a cluster, which its masters then take. Default: the master stands alone. */
  readonly rotateCluster?: (reason: RotationReason) => Promise<void>;
}

/** The rotations of one master. */
export class KeyRotation {
  readonly #parts: KeyRotationParts;
  readonly #ending = new AbortController();
  #madeMs: number;
  #rotating: Promise<void> = Promise.resolve();

  constructor(parts: KeyRotationParts) {
    this.#parts = parts;
    this.#madeMs = parts.rotateCluster === undefined ? Date.now() : -Infinity;
  }

  /**
   * When this master made the key, or began to make its successor, in milliseconds since the epoch: a cluster's masters
   * take that some time later. `-Infinity`: the key is of the cluster, and no successor was asked for.
   */
  get madeMs(): number {
    return this.#madeMs;
  }

  /** Replaces the key, after the rotations before: who was deleted during one may have the key that it announced. */
  rotate(reason: RotationReason): void {
    this.#madeMs = Date.now();
    this.#rotating = this.#rotating.then(() => this.#rotate(reason));
  }

  /** Never rejects. */
  async #rotate(reason: RotationReason): Promise<void> {
    const { sharedKey, log, rotateCluster } = this.#parts;
    if (rotateCluster !== undefined) {
      // The Cluster thread takes the new key as that of any other master.
      return await rotateCluster(reason).catch((error) => {
        this.#madeMs = -Infinity;
        log.error(`There is no new publish key (${reason}): ${messageOf(error)}`);
      });
    }
    log.info(`Rotating the AES key: ${reason}`);
    await this.#announce(reason);
    sharedKey.rotate();
    log.info("The new AES key is in use");
    await this.tell();
  }

  /** Tells minions that there will be another key, and gives them the time to ask for it one by one. */
  async #announce(reason: RotationReason): Promise<void> {
    const { sharedKey, opts: { publish_session: lifetimeS, order_masters } } = this.#parts;
    // A syndic of Salt would hand the announcement on as a job.
    if (order_masters) return;
    const withinS = reason === TOO_OLD ? Math.min(LONG_ANNOUNCEMENT_S, lifetimeS / 10) : SHORT_ANNOUNCEMENT_S;
    sharedKey.announce();
    await this.#publish(announcement(withinS, makeJid()));
    await sleep(withinS * 1000, this.#ending.signal).catch(() => {}); // the master ends
  }

  /** Tells that there is another key. Never rejects. */
  async tell(): Promise<void> {
    const { fire, opts: { ping_on_rotate, user } } = this.#parts;
    await fire(ROTATE_EVENT, map({ rotate_aes_key: true }));
    if (!ping_on_rotate) return;
    // Minions notice the new key when a publish cannot be decrypted: let that be a ping, not the next job.
    await this.#publish(map({ fun: "test.ping", arg: [], tgt: "*", jid: makeJid(), ret: "", tgt_type: "glob", user }));
  }

  /**
   * Publishes what is no job of a user, and is not stored. Never rejects: whoever does not hear of the new key asks for
   * it with the next job.
   */
  async #publish(load: ValueMap): Promise<void> {
    const { log, opts: { sock_dir } } = this.#parts;
    try {
      using publisher = Outbox.push({ lingerMs: 1_000 });
      publisher.connect(`ipc://${publishPullPath(sock_dir)}`);
      await publisher.send([encode(map({ load, minions: [], ttl_ms: 0 }), "disk")], 5_000);
    } catch (error) {
      log.error(`Minions are not told of the new AES key: ${messageOf(error)}`);
    }
  }

  /** Ends when the running rotation has; none waits any more. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#rotating;
  }
}
