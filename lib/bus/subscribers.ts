/**
 * The subscribers of an event bus: which of them do not read, and how many events they have lost. The rule, without
 * sockets.
 *
 * Our subscribers subscribe to an additional topic with their name, which the bus receives like any subscription.
 * libzmq reports only the first time that a subscriber's queue is full, not what it drops afterwards. So the bus counts
 * itself, and sends a note with the count before each event; the first note that arrives tells how many events were
 * missed. The subscriber confirms it by sending its name again.
 * @module
 */

import { dumpJson } from "#lib/values/json.ts";
import { isMap, map, toNumber, toValue } from "#lib/values/value.ts";

/** Prefix of a subscriber's own topic; no event looks like it. */
const SUBSCRIBER = "\u0001subscriber ";

/** The data that a subscriber sends about itself. */
export interface SubscriberName {
  /** A unique key. */
  readonly key: string;
  /** Its process id. */
  readonly pid: number;
  /** The prefixes it subscribed to. */
  readonly prefixes: readonly string[];
  /** The number of events that it knows it has missed since it subscribed. */
  readonly missed: number;
}

/** A subscriber on the side of the bus. */
export interface Subscriber {
  /** The data that it sends about itself. */
  readonly name: SubscriberName;
  readonly topic: string;
  /** Number of events dropped for it so far. */
  dropped: number;
  /** Whether its queue was full, and it has not read since. */
  stuck: boolean;
}

/** The topic that tells a subscriber's name. */
export function subscriberTopic({ key, pid, prefixes, missed }: SubscriberName): string {
  return `${SUBSCRIBER}${dumpJson(map({ key, pid, prefixes: [...prefixes], missed }))}`;
}

/** Parses a subscriber's topic; `undefined` for all other topics. */
export function readSubscriberTopic(topic: string): SubscriberName | undefined {
  if (!topic.startsWith(SUBSCRIBER)) return undefined;
  try {
    const name = toValue(JSON.parse(topic.slice(SUBSCRIBER.length)));
    if (!isMap(name)) return undefined;
    const prefixes = name.get("prefixes");
    return {
      key: String(name.get("key")),
      pid: toNumber(name.get("pid")) ?? 0,
      prefixes: Array.isArray(prefixes) ? prefixes.map(String) : [],
      missed: toNumber(name.get("missed")) ?? 0,
    };
  } catch {
    return undefined; // another program's topic
  }
}

/** A note for a subscriber: the number of events that it has missed. */
export function missedNote({ topic, dropped }: Subscriber): string {
  return `${topic}\n${dropped}`;
}

/** A change of a subscriber's state. */
export type SubscriberNotice = {
  readonly what: "stuck" | "reads again" | "left stuck";
  readonly subscriber: Subscriber;
};

/** The subscribers of one bus. */
export class BusSubscribers {
  readonly #known = new Map<string, Subscriber>();
  readonly #onNotice: (notice: SubscriberNotice) => void;

  /** @param onNotice Called when a subscriber stops reading, and when that ends. */
  constructor(onNotice: (notice: SubscriberNotice) => void) {
    this.#onNotice = onNotice;
  }

  get all(): readonly Subscriber[] {
    return [...this.#known.values()];
  }

  /** Subscribers to `tag` that do not read. */
  stuckOn(tag: string): Subscriber[] {
    const stuck: Subscriber[] = [];
    for (const subscriber of this.#known.values()) {
      if (subscriber.stuck && wants(subscriber, tag)) stuck.push(subscriber);
    }
    return stuck;
  }

  /** Subscribers to `tag` that read. */
  readingOn(tag: string): Subscriber[] {
    return this.all.filter((subscriber) => !subscriber.stuck && wants(subscriber, tag));
  }

  /** Handles a new or ended subscription. */
  subscriptionChanged(topic: string, come: boolean): void {
    const name = readSubscriberTopic(topic);
    if (name === undefined) return;
    const entry = this.#known.get(name.key);
    if (!come) {
      if (entry?.topic !== topic) return; // it has sent its name again
      this.#known.delete(name.key);
      if (entry.stuck) this.#onNotice({ what: "left stuck", subscriber: entry });
      return;
    }
    // Everything counted after the note that it confirms has reached it.
    const subscriber = { name, topic, dropped: name.missed, stuck: false };
    this.#known.set(name.key, subscriber);
    if (entry?.stuck) this.#onNotice({ what: "reads again", subscriber });
  }

  /** The queue of a subscriber is full. */
  full(subscriber: Subscriber): void {
    subscriber.stuck = true;
    this.#onNotice({ what: "stuck", subscriber });
  }
}

function wants({ name }: Subscriber, tag: string): boolean {
  return name.prefixes.some((prefix) => tag.startsWith(prefix));
}
