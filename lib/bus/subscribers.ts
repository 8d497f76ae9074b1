/**
 * Who listens to an event bus, who of them does not read, and how many events that has cost them: the rule, without sockets.
 *
 * A subscriber of ours names itself by a topic of its own, which the bus hears of as of any subscription. libzmq tells when
 * the queue of a subscriber is full for the first time; what is dropped after that it does not tell. So the bus counts, and
 * puts a note with the count in front of each event: the first note that gets through says how many were missed. The
 * subscriber confirms it by naming itself anew.
 * @module
 */

import { dumpJson } from "../values/json.ts";
import { isMap, map, toNumber, toValue } from "../values/value.ts";

/** What a subscriber's own topic begins with; no event is packed like it. */
const SUBSCRIBER = "\u0001subscriber ";

/** What a subscriber says of itself. */
export interface SubscriberName {
  /** Tells it from every other. */
  readonly key: string;
  /** Its process. */
  readonly pid: number;
  /** What it asked for. */
  readonly prefixes: readonly string[];
  /** How many events it knows it has missed, since it subscribed. */
  readonly missed: number;
}

/** A subscriber, as the bus sees it. */
export interface Subscriber {
  /** What it says of itself. */
  readonly name: SubscriberName;
  readonly topic: string;
  /** How many events were dropped for it so far. */
  dropped: number;
  /** Whether its queue was full, and it has not read since. */
  stuck: boolean;
}

/** The topic by which a subscriber names itself. */
export function subscriberTopic({ key, pid, prefixes, missed }: SubscriberName): string {
  return `${SUBSCRIBER}${dumpJson(map({ key, pid, prefixes: [...prefixes], missed }))}`;
}

/** What a topic says of a subscriber; `undefined` for all other topics. */
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
    return undefined; // somebody else's idea of a topic
  }
}

/** A note for a subscriber: how many events it has missed. */
export function missedNote({ topic, dropped }: Subscriber): string {
  return `${topic}\n${dropped}`;
}

/** What became of a subscriber. */
export type BusNews = { readonly what: "stuck" | "reads again" | "left stuck"; readonly subscriber: Subscriber };

/** The subscribers of one bus. */
export class BusSubscribers {
  readonly #known = new Map<string, Subscriber>();
  readonly #tell: (news: BusNews) => void;

  /** Knows nobody. @param tell Told of those that get stuck, and of what becomes of them. */
  constructor(tell: (news: BusNews) => void) {
    this.#tell = tell;
  }

  /** All of them. */
  get all(): readonly Subscriber[] {
    return [...this.#known.values()];
  }

  /** Those that do not read, as far as they asked for `tag`. */
  stuckOn(tag: string): Subscriber[] {
    const stuck: Subscriber[] = [];
    for (const subscriber of this.#known.values()) {
      if (subscriber.stuck && wants(subscriber, tag)) stuck.push(subscriber);
    }
    return stuck;
  }

  /** Those that read, as far as they asked for `tag`. */
  readingOn(tag: string): Subscriber[] {
    return this.all.filter((subscriber) => !subscriber.stuck && wants(subscriber, tag));
  }

  /** A subscription has come, or gone. */
  heard(topic: string, come: boolean): void {
    const name = readSubscriberTopic(topic);
    if (name === undefined) return;
    const known = this.#known.get(name.key);
    if (!come) {
      if (known?.topic !== topic) return; // it has named itself anew
      this.#known.delete(name.key);
      if (known.stuck) this.#tell({ what: "left stuck", subscriber: known });
      return;
    }
    // What was counted after the note that it confirms has reached it.
    const subscriber = { name, topic, dropped: name.missed, stuck: false };
    this.#known.set(name.key, subscriber);
    if (known?.stuck) this.#tell({ what: "reads again", subscriber });
  }

  /** The queue of a subscriber is full. */
  full(subscriber: Subscriber): void {
    subscriber.stuck = true;
    this.#tell({ what: "stuck", subscriber });
  }
}

function wants({ name }: Subscriber, tag: string): boolean {
  return name.prefixes.some((prefix) => tag.startsWith(prefix));
}
