/**
 * Presence: which minions are connected now, from libzmq's subscriptions. Each of our minions subscribes to its own
 * topic, and the master's XPUB gets a message when a topic gets its first subscriber and when it loses its last one.
 * The topic contains a MAC with the minion's session key, so that no other client can make it, and it is valid once: it
 * contains a nonce, which the master remembers, and depends on the shared key, which changes at each start and
 * rotation. So a recorded topic cannot be used to impersonate the minion. Python minions have no such topic, and Python
 * masters ignore it. Knows no sockets.
 * @module
 */

import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { timingSafeEqual } from "#lib/crypto/timing_safe_equal.ts";

const PREFIX = "salt/present/";
/** Separates nonce and MAC; occurs in neither. */
const DOT = ".";
/**
 * Bytes of a MAC and of a nonce. As short as is safe: each character of a topic takes 48 bytes of libzmq's memory per
 * minion.
 */
const MAC_BYTES = 16, NONCE_BYTES = 6;
const URL_SAFE = { alphabet: "base64url", omitPadding: true } as const;
const utf8 = new TextEncoder();

/** The keys that only a minion and its master know. */
export interface PresenceKeys {
  /** Key string of the minion's requests. */
  readonly sessionKey: string;
  /** Key string of publishes. */
  readonly sharedKey: string;
}

/** A new topic for one subscription of minion `id`. */
export function presenceTopic(id: string, keys: PresenceKeys): string {
  return topicWith(id, keys, crypto.getRandomValues(new Uint8Array(NONCE_BYTES)).toBase64(URL_SAFE));
}

function topicWith(id: string, { sessionKey, sharedKey }: PresenceKeys, nonce: string): string {
  return `${PREFIX}${id}/${nonce}${DOT}${mac(sessionKey, `${PREFIX}${id}/${nonce}${DOT}${sharedKey}`)}`;
}

/** The topic of minions of earlier versions; the same for all their subscriptions. */
export function formerPresenceTopic(id: string, sessionKey: string): string {
  return `${PREFIX}${id}/${mac(sessionKey, PREFIX + id)}`;
}

function mac(key: string, text: string): string {
  return hmac(sha256, utf8.encode(key), utf8.encode(text)).subarray(0, MAC_BYTES).toBase64(URL_SAFE);
}

/** A minion that connected or disconnected. */
export interface PresenceChange {
  readonly id: string;
  /** Whether it is connected now. */
  readonly present: boolean;
}

/** The connected minions, from their subscriptions. */
export class PresenceBook {
  readonly #sessionKeys: (id: string) => readonly string[];
  readonly #sharedKey: () => string;
  readonly #since = new Map<string, number>();
  /** The topics of each connected minion: two, if it has just made a new subscription. */
  readonly #topics = new Map<string, Set<string>>();
  /** The current and the previous shared key: a minion may have signed in just before a rotation. */
  #sharedKeys: readonly string[] = [];
  /** The topics that were valid with each of these keys, by minion. */
  #used: readonly Map<string, Set<string>>[] = [];

  /**
   * @param keys.sessionKeys The session keys that count of a minion; none if it has never signed in.
   * @param keys.sharedKey The current shared key.
   */
  constructor(keys: { readonly sessionKeys: (id: string) => readonly string[]; readonly sharedKey: () => string }) {
    this.#sessionKeys = keys.sessionKeys;
    this.#sharedKey = keys.sharedKey;
  }

  /** The connected minions, with the time of connection in milliseconds since the epoch. */
  get since(): Map<string, number> {
    return this.#since;
  }

  /**
   * Handles a message of the XPUB: 1 or 0, then the topic.
   * @returns The change, if the topic is authentic.
   */
  receive(frame: Uint8Array, nowMs: number = Date.now()): PresenceChange | undefined {
    const topic = new TextDecoder().decode(frame.subarray(1));
    if (!topic.startsWith(PREFIX)) return undefined;
    return frame[0] === 1 ? this.#come(topic, nowMs) : this.#go(topic);
  }

  #come(topic: string, nowMs: number): PresenceChange | undefined {
    const id = idIn(topic);
    const keys = isValidId(id) ? this.#sessionKeys(id) : [];
    if (!keys.some((sessionKey) => this.#proves(topic, id, sessionKey))) return undefined;
    const topics = this.#topics.get(id);
    if (topics !== undefined) {
      topics.add(topic);
      return undefined;
    }
    this.#topics.set(id, new Set([topic]));
    this.#since.set(id, nowMs);
    return { id, present: true };
  }

  /** Whether `topic` is an authentic topic of that minion, for the first time. */
  #proves(topic: string, id: string, sessionKey: string): boolean {
    this.#lookAtSharedKey();
    const [nonce, ...rest] = topic.slice(PREFIX.length + id.length + 1).split(DOT);
    // A minion that uses nonces has no topic without one: it may have been recorded before the minion was updated.
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

  /** A lost subscription needs no proof: only authentic topics are known. */
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
