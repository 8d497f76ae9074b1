/**
 * Subscribes to the event bus of a master or a minion: what is pushed to `…_event_pull.ipc` (sender.ts) is published on
 * `…_event_pub.ipc`, by its pump (pump.ts).
 *
 * One frame an event (the 2014 ZeroMQ bus), subscribed to by the prefix of its tag. A subscriber gets a welcome message
 * when it is live, so that nothing published afterwards is missed. What a subscriber
 * does not read in time is dropped for it alone, and it is told how much that was.
 * Knows the packing of events, nothing of their meaning.
 * @module
 */

import { type SubscriberName, subscriberTopic } from "./subscribers.ts";
import { NoMasterError, WireError } from "../errors.ts";
import { type BusEvent, unpackWanted } from "./event.ts";
import { sameBytes, startsWith } from "../crypto/same_bytes.ts";
import { sleep } from "../os/sleep.ts";
import { type Frames, Inbox } from "../sockets/endpoint.ts";
import { CONNECT_MS } from "./paths.ts";

/** The first frame that a new subscriber gets; no event is packed like it. */
export const BUS_WELCOME = "\u0001welcome";

/** What is put behind it: the bus will also answer the subscriber's own name, when all that it asked for is live. */
export const ANSWERS_NAMES = ", and a note follows";

/** How many events are kept for a subscriber that does not read. */
export const KEPT_EVENTS = 20_000;

/** Who waits for an event and is woken by others' rests for this part of the time that it has waited, and no longer than that. */
const REST_SHARE = 5;
const MOST_REST_MS = 20;

/** A live subscription to a bus. */
export class EventSubscriber {
  readonly #inbox: Inbox;
  readonly #closing = new AbortController();
  #name: SubscriberName;
  readonly #prefixes: Set<string>;

  /** What came before the subscription was known to be live. */
  readonly #early: Frames[];

  private constructor(inbox: Inbox, name: SubscriberName, early: Frames[]) {
    this.#inbox = inbox;
    this.#early = early;
    this.#name = name;
    this.#prefixes = new Set(name.prefixes);
  }

  /** How many events the bus has dropped, because this subscriber did not read them in time. */
  get missed(): number {
    return this.#name.missed;
  }

  /**
   * Subscribes to every event whose tag begins with one of `prefixes`; resolves when the subscription is live.
   * @throws {NoMasterError} If no bus answers at `pubPath`.
   */
  static async connect(pubPath: string, prefixes: readonly string[]): Promise<EventSubscriber> {
    const inbox = Inbox.subscriber({ highWaterMark: KEPT_EVENTS, reconnectMs: 20 });
    const name = { key: crypto.randomUUID(), pid: Deno.pid, prefixes, missed: 0 };
    inbox.subscribe(BUS_WELCOME);
    for (const prefix of prefixes) inbox.subscribe(prefix);
    // The last: when it is answered, all are live.
    inbox.subscribe(subscriberTopic(name));
    inbox.connect(`ipc://${pubPath}`);
    const early: Frames[] = [];
    let first = await inbox.receive(CONNECT_MS);
    if (first !== undefined && announcesNote(first[0])) {
      const named = new TextEncoder().encode(subscriberTopic(name));
      first = await inbox.receive(CONNECT_MS);
      while (first !== undefined && !startsWith(first[0], named)) {
        early.push(first);
        first = await inbox.receive(CONNECT_MS);
      }
    }
    if (first === undefined) {
      inbox.close();
      throw new NoMasterError(`Nothing answers on the event bus ${pubPath}`);
    }
    return new EventSubscriber(inbox, name, early);
  }

  /** Asks for one more prefix; live soon, not at once. */
  subscribe(prefix: string): void {
    this.#inbox.subscribe(prefix);
    this.#prefixes.add(prefix);
    this.#rename(this.#name.missed);
  }

  /** Takes a prefix back. */
  unsubscribe(prefix: string): void {
    this.#inbox.unsubscribe(prefix);
    this.#prefixes.delete(prefix);
    this.#rename(this.#name.missed);
  }

  /** Tells the bus what this subscriber asks for, and has missed, now. */
  #rename(missed: number): void {
    const old = subscriberTopic(this.#name);
    this.#name = { ...this.#name, prefixes: [...this.#prefixes], missed };
    const topic = subscriberTopic(this.#name);
    if (topic === old) return;
    this.#inbox.subscribe(topic);
    this.#inbox.unsubscribe(old);
  }

  /** Takes a note of the bus, of how many events this subscriber has missed. */
  #hearNote(frame: Uint8Array): void {
    const [topic, count] = new TextDecoder().decode(frame).split("\n");
    const missed = Number(count);
    if (topic === subscriberTopic(this.#name) && missed > this.#name.missed) this.#rename(missed);
  }

  /**
   * Waits for an event.
   * @param wanted Passes over events by their tags, whose data need not be read then. Default: none. Whoever has heard of others'
   * affairs alone rests, for a fifth of the time that it has waited: among many who all hear everything, to be woken by each
   * event costs more than all else that they do.
   * @returns The next event, or `undefined` after `timeoutMs` (default: no end) or when closed.
   */
  async next(timeoutMs = -1, wanted: (tag: string) => boolean = () => true): Promise<BusEvent | undefined> {
    const started = performance.now();
    const leftMs = () => timeoutMs < 0 ? -1 : Math.max(0, timeoutMs - (performance.now() - started));
    let frame = await this.#frame(leftMs());
    while (frame !== undefined) {
      const event = readWanted(frame, wanted);
      if (event !== undefined) return event;
      frame = await this.#frame(0);
      if (frame !== undefined) continue;
      await this.#rest((performance.now() - started) / REST_SHARE, leftMs());
      frame = await this.#frame(leftMs());
    }
    return undefined;
  }

  /** Does nothing for `ms`, at most for as long as there is time left, or until it is closed. */
  async #rest(ms: number, leftMs: number): Promise<void> {
    const restMs = Math.min(ms, MOST_REST_MS, leftMs < 0 ? Infinity : leftMs);
    if (restMs >= 1) await sleep(restMs, this.#closing.signal).catch(() => {});
  }

  /** Waits until this very event has come. @returns Whether it did within `timeoutMs`. */
  async passes(event: Uint8Array, timeoutMs: number): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const frame = await this.#frame(Math.max(0, deadline - performance.now()));
      if (frame === undefined) return false;
      if (sameBytes(frame, event)) return true;
    }
  }

  /**
   * Tells `heard` the tag of every event that comes, until it is closed; of the data nothing is read.
   * @param restMs How long it rests when it has heard all that there was. Else a thread that only listens would be woken by
   * each of a thousand events that come one by one, which costs more than to hear it.
   */
  async hearTags(heard: (tag: string) => void, restMs: number): Promise<void> {
    for (;;) {
      let frame = await this.#frame(-1);
      if (frame === undefined) return;
      for (; frame !== undefined; frame = await this.#frame(0)) {
        try {
          unpackWanted(frame, (tag) => (heard(tag), false));
        } catch (error) {
          if (!(error instanceof WireError)) throw error;
        }
      }
      await sleep(restMs);
    }
  }

  /** The next event's frame, or `undefined` after `timeoutMs` (negative: no end) or when closed. */
  async #frame(timeoutMs: number): Promise<Uint8Array | undefined> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const frames = this.#early.shift() ??
        await this.#inbox.receive(timeoutMs < 0 ? -1 : Math.max(0, deadline - performance.now()));
      // A bus that restarted welcomes us again; or it has a note for us.
      if (frames === undefined || frames[0][0] !== BUS_WELCOME.charCodeAt(0)) return frames?.[0];
      this.#hearNote(frames[0]);
    }
  }

  /** Ends the subscription. */
  close(): void {
    this.#closing.abort();
    this.#inbox.close();
  }

  /** `using` closes it. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** The event in a frame, if it is one that is wanted; what is no event concerns nobody. */
function readWanted(frame: Uint8Array, wanted: (tag: string) => boolean): BusEvent | undefined {
  try {
    return unpackWanted(frame, wanted);
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

function announcesNote(frame: Uint8Array): boolean {
  return startsWith(frame, new TextEncoder().encode(BUS_WELCOME + ANSWERS_NAMES));
}
