/**
 * Subscribes to the event bus of a master or a minion: events pushed to `…_event_pull.ipc` (sender.ts) are published on
 * `…_event_pub.ipc` by the pump (pump.ts). One frame per event (the 2014 ZeroMQ bus), selected by the prefix of its
 * tag. A subscriber gets a welcome message when its subscription is active, so that it misses nothing published
 * afterwards. Events that a subscriber does not read in time are dropped for this subscriber only, and the bus sends it
 * their number. Knows the packing of events, not their meaning.
 * @module
 */

import { dirName } from "#lib/os/paths.ts";
import { type SubscriberName, subscriberTopic } from "./subscribers.ts";
import { NoMasterError, WireError } from "#lib/errors.ts";
import { type BusEvent, readMatching, unpackMatching } from "./event.ts";
import { sameBytes, startsWith } from "#lib/crypto/same_bytes.ts";
import { sleep } from "#lib/os/sleep.ts";
import { Inbox } from "#lib/sockets/endpoint.ts";
import type { Frames } from "#lib/sockets/libzmq.ts";
import { CONNECT_MS, pythonBus } from "./paths.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { Pieces } from "./pieces.ts";

/** The first frame that a new subscriber gets; no event looks like it. */
export const BUS_WELCOME = "\u0001welcome";

const WELCOME = new TextEncoder().encode(BUS_WELCOME);

/** Suffix of the welcome message: the bus also answers the subscriber's name when all its subscriptions are active. */
export const ANSWERS_NAMES = ", and a note follows";

/** Number of events queued for a subscriber that does not read. */
export const MAX_WAITING_EVENTS = 20_000;

/** A subscriber that has waited and got only events of others pauses for one fifth of that time. */
const REST_SHARE = 5;
const MAX_REST_MS = 20;

/** An active subscription to a bus. */
export class EventSubscriber {
  readonly #inbox: Inbox;
  readonly #closing = new AbortController();
  #name: SubscriberName;
  readonly #pieces = new Pieces();

  /** Events received before the subscription was known to be active. */
  readonly #early: Frames[];

  #stopsAtGap: boolean;
  /** The last event, if the subscriber stops at gaps. */
  #last: Uint8Array | undefined;
  #atGap = false;
  #restarts = 0;

  private constructor(inbox: Inbox, name: SubscriberName, early: Frames[], stopsAtGap: boolean) {
    this.#inbox = inbox;
    this.#early = early;
    this.#name = name;
    this.#stopsAtGap = stopsAtGap;
  }

  /** Number of events that the bus has dropped because this subscriber did not read them in time. */
  get missed(): number {
    return this.#name.missed;
  }

  /**
   * Subscribes to every event whose tag begins with one of `prefixes`; resolves when the subscription is active.
   * @param options.stopsAtGap Whether it returns no event after a gap until {@linkcode passGap} is called. Default: no.
   * @throws {NoMasterError} If no bus answers at `pubPath`.
   */
  static async connect(
    pubPath: string,
    prefixes: readonly string[],
    { stopsAtGap = false }: { readonly stopsAtGap?: boolean } = {},
  ): Promise<EventSubscriber> {
    const inbox = Inbox.subscriber({ highWaterMark: MAX_WAITING_EVENTS, reconnectMs: 20 });
    const name = { key: crypto.randomUUID(), pid: Deno.pid, prefixes, missed: 0 };
    inbox.subscribe(BUS_WELCOME);
    for (const prefix of prefixes) inbox.subscribe(prefix);
    // Sent last: when it is answered, all subscriptions are active.
    inbox.subscribe(subscriberTopic(name));
    inbox.connect(`ipc://${pubPath}`);
    const early: Frames[] = [];
    let first = await inbox.receive(CONNECT_MS);
    if (first !== undefined && announcesNote(first[0])) {
      const topic = new TextEncoder().encode(subscriberTopic(name));
      first = await inbox.receive(CONNECT_MS);
      while (first !== undefined && !startsWith(first[0], topic)) {
        early.push(first);
        first = await inbox.receive(CONNECT_MS);
      }
    }
    if (first === undefined) {
      inbox.close();
      throw new NoMasterError(`Nothing answers on the event bus ${pubPath}${besideText(pubPath)}`);
    }
    return new EventSubscriber(inbox, name, early, stopsAtGap);
  }

  /** How often its connection was made again: events of the time without one are missing. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Whether it stands at a gap: the bus has skipped events after the last one. */
  get atGap(): boolean {
    return this.#atGap;
  }

  /**
   * Leaves the gap.
   * @returns The last event before it, in the form of the bus; `undefined` if there was none.
   */
  passGap(): Uint8Array | undefined {
    this.#atGap = false;
    return this.#last;
  }

  /** Stops at no gap any more. */
  ignoreGaps(): void {
    this.#stopsAtGap = false;
  }

  /** Sends the bus the subscriber's name, which has the number of missed events. */
  #rename(missed: number): void {
    const old = subscriberTopic(this.#name);
    this.#name = { ...this.#name, missed };
    this.#inbox.subscribe(subscriberTopic(this.#name));
    this.#inbox.unsubscribe(old);
  }

  /** Handles a note of the bus with the number of missed events. */
  #receiveNote(frame: Uint8Array): void {
    const [topic, count] = new TextDecoder().decode(frame).split("\n");
    const missed = Number(count);
    if (topic !== subscriberTopic(this.#name) || missed <= this.#name.missed) return;
    this.#rename(missed);
    this.#atGap = this.#stopsAtGap;
  }

  /**
   * Waits for an event.
   * @param wanted Selects events by tag; the data of others is not read. Default: all. If only unwanted events came,
   * the subscriber pauses for a fifth of the time that it has waited: with many subscribers that get all events, waking
   * up for each event would cost more than everything else.
   * @returns The next event, or `undefined` after `timeoutMs` (default: no limit), when closed, or at a gap.
   */
  async next(timeoutMs = -1, wanted: (tag: string) => boolean = () => true): Promise<BusEvent | undefined> {
    const started = performance.now();
    const leftMs = () => timeoutMs < 0 ? -1 : Math.max(0, timeoutMs - (performance.now() - started));
    let frame = await this.#frame(leftMs());
    while (frame !== undefined) {
      const event = readMatching(frame, wanted);
      if (event !== undefined) return event;
      frame = await this.#frame(0);
      if (frame !== undefined) continue;
      await this.#rest((performance.now() - started) / REST_SHARE, leftMs());
      frame = await this.#frame(leftMs());
    }
    return undefined;
  }

  /** Pauses for `ms`, but not beyond the time left, and not when closed. */
  async #rest(ms: number, leftMs: number): Promise<void> {
    const restMs = Math.min(ms, MAX_REST_MS, leftMs < 0 ? Infinity : leftMs);
    if (restMs >= 1) await sleep(restMs, this.#closing.signal).catch(() => {});
  }

  /**
   * Waits until exactly this event has come.
   * @returns Whether it came within `timeoutMs`.
   */
  async passes(event: Uint8Array, timeoutMs: number): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const frame = await this.#frame(Math.max(0, deadline - performance.now()));
      if (frame === undefined) return false;
      if (sameBytes(frame, event)) return true;
    }
  }

  /**
   * Calls `onTag` with the tag of every event until closed, without reading data.
   * @param restMs Pause after all waiting events were read. Without it, a thread that only listens would wake up for
   * each of a thousand single events, which costs more than reading them.
   */
  async readTags(onTag: (tag: string) => void, restMs: number): Promise<void> {
    for (;;) {
      let frame = await this.#frame(-1);
      if (frame === undefined) return;
      for (; frame !== undefined; frame = await this.#frame(0)) {
        try {
          unpackMatching(frame, (tag) => (onTag(tag), false));
        } catch (error) {
          if (!(error instanceof WireError)) throw error;
        }
      }
      await sleep(restMs);
    }
  }

  /** The next event's frame, or `undefined` after `timeoutMs` (negative: no limit) or when closed. */
  async #frame(timeoutMs: number): Promise<Uint8Array | undefined> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      if (this.#atGap) return undefined;
      const frames = this.#early.shift() ??
        await this.#inbox.receive(timeoutMs < 0 ? -1 : Math.max(0, deadline - performance.now()));
      // A restarted bus sends its welcome message again, or the bus sends a note.
      if (frames === undefined) return undefined;
      if (frames[0][0] === BUS_WELCOME.charCodeAt(0)) {
        if (startsWith(frames[0], WELCOME)) this.#restarts++;
        else this.#receiveNote(frames[0]);
        continue;
      }
      const event = this.#pieces.join(frames[0]);
      if (event === undefined) continue;
      if (this.#stopsAtGap) this.#last = event;
      return event;
    }
  }

  close(): void {
    this.#closing.abort();
    this.#inbox.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

function announcesNote(frame: Uint8Array): boolean {
  return startsWith(frame, new TextEncoder().encode(BUS_WELCOME + ANSWERS_NAMES));
}

/** A hint for the case that a Python master runs here: it has the same directory of sockets, with another bus. */
function besideText(pubPath: string): string {
  const directory = dirName(pubPath);
  const isPython = !lexistsOrThrow(pubPath) && lexistsOrThrow(pythonBus(directory).pub);
  return isPython ? ". The master there is Python Salt's, whose bus only Python Salt's programs read" : "";
}
