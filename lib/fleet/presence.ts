/**
 * Which minions are connected, told by libzmq itself: each of ours subscribes to a topic of its own, and the master's XPUB
 * hears of a topic when its first subscriber comes and when the last one goes.
 *
 * The topic carries a MAC under the minion's session key, so that nobody else can seem to be it, and it is good once: it has a
 * nonce, which the master remembers, and goes with the shared key, which each start of the master and each rotation changes. So
 * whoever recorded one is not taken for the minion later. A Python minion has no such topic, and a Python master does not mind one.
 * Knows no sockets.
 * @module
 */

import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { isValidId } from "../protocol/minion_id.ts";
import { timingSafeEqual } from "../crypto/timing_safe_equal.ts";

const PREFIX = "salt/present/";
/** Between the nonce and the MAC; in neither of them. */
const DOT = ".";
/** Bytes of a MAC, and of a nonce. No more than are needed: each character of a topic takes 48 bytes of libzmq's memory, for each minion. */
const MAC_BYTES = 16, NONCE_BYTES = 6;
const URL_SAFE = { alphabet: "base64url", omitPadding: true } as const;
const utf8 = new TextEncoder();

/** What a minion and its master know, and nobody else. */
export interface PresenceKeys {
  /** Key string of the minion's own requests. */
  readonly sessionKey: string;
  /** Key string of everything that is published. */
  readonly sharedKey: string;
}

/** A new topic for a subscription of minion `id`. */
export function presenceTopic(id: string, keys: PresenceKeys): string {
  return topicWith(id, keys, crypto.getRandomValues(new Uint8Array(NONCE_BYTES)).toBase64(URL_SAFE));
}

function topicWith(id: string, { sessionKey, sharedKey }: PresenceKeys, nonce: string): string {
  return `${PREFIX}${id}/${nonce}${DOT}${mac(sessionKey, `${PREFIX}${id}/${nonce}${DOT}${sharedKey}`)}`;
}

/** The topic of minions of earlier versions, which is the same for each of their subscriptions. */
export function formerPresenceTopic(id: string, sessionKey: string): string {
  return `${PREFIX}${id}/${mac(sessionKey, PREFIX + id)}`;
}

function mac(key: string, text: string): string {
  return hmac(sha256, utf8.encode(key), utf8.encode(text)).subarray(0, MAC_BYTES).toBase64(URL_SAFE);
}

/** A minion that came or went. */
export interface PresenceChange {
  /** The minion. */
  readonly id: string;
  /** Whether it is there now. */
  readonly present: boolean;
}

/** The minions that are there, as the subscriptions tell. */
export class PresenceBook {
  readonly #sessionKey: (id: string) => string | undefined;
  readonly #sharedKey: () => string;
  readonly #since = new Map<string, number>();
  /** The topics of each minion that is there: two, when it has just made a new subscription. */
  readonly #topics = new Map<string, Set<string>>();
  /** The shared key, and the one before: a minion may have signed in just before it was changed. */
  #sharedKeys: readonly string[] = [];
  /** The topics that were good under each of them, by minion. */
  #used: readonly Map<string, Set<string>>[] = [];

  /**
   * Knows nobody yet.
   * @param keys.sessionKey The session key of a minion that has ever signed in.
   * @param keys.sharedKey The shared key as it is now.
   */
  constructor(keys: { readonly sessionKey: (id: string) => string | undefined; readonly sharedKey: () => string }) {
    this.#sessionKey = keys.sessionKey;
    this.#sharedKey = keys.sharedKey;
  }

  /** Who is there, and since when, in milliseconds since the epoch. */
  get since(): Map<string, number> {
    return this.#since;
  }

  /** Takes in a message of the XPUB: 1 or 0, then the topic. @returns What it changed, if it proves itself. */
  hear(frame: Uint8Array, nowMs: number = Date.now()): PresenceChange | undefined {
    const topic = new TextDecoder().decode(frame.subarray(1));
    if (!topic.startsWith(PREFIX)) return undefined;
    return frame[0] === 1 ? this.#come(topic, nowMs) : this.#go(topic);
  }

  #come(topic: string, nowMs: number): PresenceChange | undefined {
    const id = idIn(topic);
    const sessionKey = isValidId(id) ? this.#sessionKey(id) : undefined;
    if (sessionKey === undefined || !this.#proves(topic, id, sessionKey)) return undefined;
    const topics = this.#topics.get(id);
    if (topics !== undefined) {
      topics.add(topic);
      return undefined;
    }
    this.#topics.set(id, new Set([topic]));
    this.#since.set(id, nowMs);
    return { id, present: true };
  }

  /** Whether `topic` is one of that minion's, and comes for the first time. */
  #proves(topic: string, id: string, sessionKey: string): boolean {
    this.#lookAtSharedKey();
    const [nonce, ...rest] = topic.slice(PREFIX.length + id.length + 1).split(DOT);
    // Whoever has a topic with a nonce has no other: it may have been recorded before the minion was updated.
    if (rest.length === 0) {
      return !this.#used.some((used) => used.has(id)) && same(topic, formerPresenceTopic(id, sessionKey));
    }
    const under = this.#sharedKeys.findIndex((sharedKey) =>
      same(topic, topicWith(id, { sessionKey, sharedKey }, nonce))
    );
    if (under < 0) return false;
    let used = this.#used[under].get(id);
    if (used === undefined) this.#used[under].set(id, used = new Set());
    if (used.has(topic)) return false;
    used.add(topic);
    return true;
  }

  #lookAtSharedKey(): void {
    const now = this.#sharedKey();
    if (this.#sharedKeys[0] === now) return;
    this.#sharedKeys = [now, ...this.#sharedKeys.slice(0, 1)];
    this.#used = [new Map(), ...this.#used.slice(0, 1)];
  }

  /** Who goes needs no proof: a topic that never proved itself is not in the book. */
  #go(topic: string): PresenceChange | undefined {
    const id = idIn(topic);
    const topics = this.#topics.get(id);
    if (topics === undefined || !topics.delete(topic) || topics.size > 0) return undefined;
    this.#topics.delete(id);
    this.#since.delete(id);
    return { id, present: false };
  }
}

function same(a: string, b: string): boolean {
  return timingSafeEqual(utf8.encode(a), utf8.encode(b));
}

function idIn(topic: string): string {
  return topic.slice(PREFIX.length, topic.lastIndexOf("/"));
}
