/**
 * Which minions are connected, told by libzmq itself: each of ours subscribes to a topic of its own, and the master's XPUB
 * hears of a topic when its first subscriber comes and when the last one goes.
 *
 * The topic carries a MAC under the minion's session key, so that nobody else can seem to be it. A Python minion has no
 * such topic, and a Python master does not mind one. Knows no sockets.
 * @module
 */

import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { isValidId } from "./minion_name.ts";
import { timingSafeEqual } from "./timing_safe_equal.ts";

const PREFIX = "salt/present/";
/** Bytes of a MAC. No more than are needed: each character of a topic takes 48 bytes of libzmq's memory, for each minion. */
const MAC_BYTES = 16;
const utf8 = new TextEncoder();

/** The topic that minion `id` subscribes to under its session key. */
export function presenceTopic(id: string, sessionKey: string): string {
  const mac = hmac(sha256, utf8.encode(sessionKey), utf8.encode(PREFIX + id)).subarray(0, MAC_BYTES);
  return `${PREFIX}${id}/${mac.toBase64({ alphabet: "base64url", omitPadding: true })}`;
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
  readonly #since = new Map<string, number>();
  /** The topics of each minion that is there: two, when it has just changed its session. */
  readonly #topics = new Map<string, Set<string>>();

  /** Knows nobody yet. @param sessionKey The session key of a minion that has ever signed in. */
  constructor(sessionKey: (id: string) => string | undefined) {
    this.#sessionKey = sessionKey;
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
    const key = isValidId(id) ? this.#sessionKey(id) : undefined;
    if (key === undefined || !timingSafeEqual(utf8.encode(topic), utf8.encode(presenceTopic(id, key)))) {
      return undefined;
    }
    const topics = this.#topics.get(id);
    if (topics !== undefined) {
      topics.add(topic);
      return undefined;
    }
    this.#topics.set(id, new Set([topic]));
    this.#since.set(id, nowMs);
    return { id, present: true };
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

function idIn(topic: string): string {
  return topic.slice(PREFIX.length, topic.lastIndexOf("/"));
}
