/**
 * The event bus of a master or a minion: what is pushed to `…_event_pull.ipc` is published on `…_event_pub.ipc`.
 *
 * One frame an event (the 2014 ZeroMQ bus), subscribed to by the prefix of its tag. A subscriber gets a welcome message
 * when it is live, so that nothing published afterwards is missed. High-water marks are off: the bus drops nothing.
 * Knows the packing of events, nothing of their meaning.
 * @module
 */

import { NoMasterError, WireError } from "./errors.ts";
import { type BusEvent, packEvent, unpackWanted } from "./event.ts";
import { Forwarder, Inbox, Outbox } from "./sockets.ts";
import type { ValueMap } from "./value.ts";

/** The two ends of a bus, as paths of ipc sockets. */
export interface BusPaths {
  /** Where subscribers connect. */
  readonly pub: string;
  /** Where events are pushed. */
  readonly pull: string;
}

/** The first frame that a new subscriber gets; no event is packed like it. */
const WELCOME = "\u0001welcome";

/** How long a connection to a bus on this host may take before nobody is there, in milliseconds. */
const CONNECT_MS = 5_000;

/** The bus of the master whose `sock_dir` is given. */
export function masterBus(sockDir: string): BusPaths {
  return { pub: `${sockDir}/master_event_pub.ipc`, pull: `${sockDir}/master_event_pull.ipc` };
}

/** The bus of a minion: `idHash` is the first ten hex digits of `hash_type` over its id. */
export function minionBus(sockDir: string, idHash: string): BusPaths {
  return { pub: `${sockDir}/minion_event_${idHash}_pub.ipc`, pull: `${sockDir}/minion_event_${idHash}_pull.ipc` };
}

/** The bus itself: libzmq moves the messages in a native thread. */
export class EventBus {
  readonly #forwarder: Forwarder;
  readonly #paths: BusPaths;

  private constructor(forwarder: Forwarder, paths: BusPaths) {
    this.#forwarder = forwarder;
    this.#paths = paths;
  }

  /** Opens the bus; left-over socket files of a bus that died are replaced. */
  static async open(paths: BusPaths): Promise<EventBus> {
    const forwarder = Forwarder.events({ highWaterMark: 0 }, { highWaterMark: 0 }, WELCOME);
    try {
      await forwarder.start({ front: `ipc://${paths.pull}`, back: `ipc://${paths.pub}` });
      for (const path of [paths.pull, paths.pub]) Deno.chmodSync(path, 0o600);
    } catch (error) {
      await forwarder.close();
      throw error;
    }
    return new EventBus(forwarder, paths);
  }

  /** Ends the bus and removes its socket files. */
  async close(): Promise<void> {
    await this.#forwarder.close();
    for (const path of [this.#paths.pull, this.#paths.pub]) removeSocketFile(path);
  }
}

/** Removes an ipc socket's file, if it is there. */
export function removeSocketFile(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** A live subscription to a bus. */
export class EventSubscriber {
  readonly #inbox: Inbox;

  private constructor(inbox: Inbox) {
    this.#inbox = inbox;
  }

  /**
   * Subscribes to every event whose tag begins with one of `prefixes`; resolves when the subscription is live.
   * @throws {NoMasterError} If no bus answers at `pubPath`.
   */
  static async connect(pubPath: string, prefixes: readonly string[]): Promise<EventSubscriber> {
    const inbox = Inbox.subscriber({ highWaterMark: 0, reconnectMs: 20 });
    inbox.subscribe(WELCOME);
    for (const prefix of prefixes) inbox.subscribe(prefix);
    inbox.connect(`ipc://${pubPath}`);
    const first = await inbox.receive(CONNECT_MS);
    if (first === undefined) {
      inbox.close();
      throw new NoMasterError(`Nothing answers on the event bus ${pubPath}`);
    }
    return new EventSubscriber(inbox);
  }

  /** Asks for one more prefix; live soon, not at once. */
  subscribe(prefix: string): void {
    this.#inbox.subscribe(prefix);
  }

  /** Takes a prefix back. */
  unsubscribe(prefix: string): void {
    this.#inbox.unsubscribe(prefix);
  }

  /**
   * Waits for an event.
   * @param wanted Passes over events by their tags, whose data need not be read then. Default: none.
   * @returns The next event, or `undefined` after `timeoutMs` (default: no end) or when closed.
   */
  async next(timeoutMs = -1, wanted: (tag: string) => boolean = () => true): Promise<BusEvent | undefined> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const frames = await this.#inbox.receive(timeoutMs < 0 ? -1 : Math.max(0, deadline - performance.now()));
      if (frames === undefined) return undefined;
      // A bus that restarted welcomes us again.
      if (frames[0][0] === WELCOME.charCodeAt(0)) continue;
      try {
        const event = unpackWanted(frames[0], wanted);
        if (event !== undefined) return event;
      } catch (error) {
        if (!(error instanceof WireError)) throw error; // what is no event concerns nobody
      }
    }
  }

  /** Ends the subscription. */
  close(): void {
    this.#inbox.close();
  }

  /** `using` closes it. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** A way to fire events on a bus. */
export class EventSender {
  readonly #outbox: Outbox;

  /**
   * Connects to a bus, now or when it is there.
   * @param pullPath The bus's pull socket. @param lingerMs How long `close` waits for events under way.
   */
  constructor(pullPath: string, lingerMs = 1_000) {
    this.#outbox = Outbox.push({ highWaterMark: 0, lingerMs, reconnectMs: 20 });
    this.#outbox.connect(`ipc://${pullPath}`);
  }

  /** Fires an event; it is stamped by whoever built `data`. @returns Whether the bus took it within `timeoutMs`. */
  async fire(tag: string, data: ValueMap, timeoutMs = CONNECT_MS): Promise<boolean> {
    return await this.#outbox.send([packEvent(tag, data)], timeoutMs);
  }

  /** Ends it; events under way are still delivered for a moment. */
  close(): void {
    this.#outbox.close();
  }

  /** `using` closes it. */
  [Symbol.dispose](): void {
    this.close();
  }
}
