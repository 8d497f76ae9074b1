/**
 * Session keys of minions that any master of a cluster computes: from the root of the cluster's keys, the id, the
 * accepted key of the minion, and the epoch, which is a time of `publish_session`. Nothing is stored, so a sign-in at
 * one master counts at all, and a minion whose key was deleted has no session anywhere. Keys of the epochs before and
 * after count too: clocks of masters differ, and a minion signs in again some time after an epoch has ended.
 * @module
 */

import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { Crypticle, KEY_BYTES } from "#lib/crypto/crypticle.ts";
import { fingerprint } from "#lib/crypto/pem.ts";
import { KeyError } from "#lib/errors.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import type { MinionSessions } from "./sessions.ts";
import type { KeyStore } from "./store.ts";

/** Number of minions whose keys a thread keeps: computing one takes as long as a request. */
const READY = 512;

const utf8 = new TextEncoder();

/** What is computed for a minion. */
interface Derived {
  /** Identifies the accepted key. */
  readonly version: string;
  readonly epoch: number;
  /** Of this epoch, the one before, the one after. */
  readonly crypticles: readonly Crypticle[];
}

/** How sessions are derived. */
export interface DerivedSessionsOptions {
  /** The root of the cluster's keys. */
  readonly root: Uint8Array;
  /** The accepted keys. */
  readonly keys: KeyStore;
  /** The length of an epoch; 0: there is one alone. */
  readonly lifetimeMs: number;
  /** Milliseconds since the epoch. */
  now?(): number;
}

/** The sessions of a cluster, as one thread of a master sees them. */
export class DerivedSessionKeys implements MinionSessions {
  readonly #options: DerivedSessionsOptions;
  readonly #ready = new BoundedMap<string, Derived>(READY);
  /** The keys of the last requests, if they are not of this epoch. */
  readonly #otherUse = new BoundedMap<string, string>(READY);

  constructor(options: DerivedSessionsOptions) {
    this.#options = options;
  }

  /**
   * As {@linkcode MinionSessions} says.
   * @throws {KeyError} If `id` has no accepted key.
   */
  forSignIn(id: string): string {
    const [crypticle] = this.crypticles(id);
    if (crypticle === undefined) throw new KeyError(`${id} has no accepted key, and so no session`);
    this.#otherUse.delete(id);
    return crypticle.keyString;
  }

  /** As {@linkcode MinionSessions} says. */
  isOld(id: string): boolean {
    const used = this.#otherUse.get(id);
    return used !== undefined && used === this.crypticles(id)[1]?.keyString;
  }

  /** As {@linkcode MinionSessions} says. */
  crypticles(id: string): readonly Crypticle[] {
    const { keys, lifetimeMs, now = Date.now } = this.#options;
    const version = keys.version(id, "accepted");
    if (version === undefined) return [];
    const epoch = lifetimeMs <= 0 ? 0 : Math.floor(now() / lifetimeMs);
    const ready = this.#ready.get(id);
    if (ready?.version === version && ready.epoch === epoch) return ready.crypticles;
    const pem = keys.get(id, "accepted");
    if (pem === undefined) return [];
    const epochs = lifetimeMs <= 0 ? [epoch] : [epoch, epoch - 1, epoch + 1];
    const crypticles = epochs.map((one) => this.#derive(id, pem, one));
    this.#ready.set(id, { version, epoch, crypticles });
    return crypticles;
  }

  #derive(id: string, pem: string, epoch: number): Crypticle {
    const info = utf8.encode(`salt cluster session\n${id}\n${fingerprint(pem, "sha256")}\n${epoch}`);
    return new Crypticle(hkdf(sha256, this.#options.root, undefined, info, KEY_BYTES).toBase64());
  }

  /** As {@linkcode MinionSessions} says. */
  noteUse(id: string, { keyString }: Crypticle): void {
    if (this.crypticles(id)[0]?.keyString === keyString) this.#otherUse.delete(id);
    else this.#otherUse.set(id, keyString);
  }

  /** Nothing is stored: without an accepted key there is no session. */
  remove(id: string): void {
    this.#ready.delete(id);
  }
}
