/**
 * The pump of an event bus: receives pushed events and publishes them, in a thread of the master or in the minion's
 * main thread. Each subscriber has a queue with a maximum number of events. A subscriber that
 * does not read loses what does not fit; the others lose nothing. Losses are counted (subscribers.ts), logged, and
 * written to a file (state_file.ts), which `salt-run bus.subscribers` shows for the master's bus. Reads only the tags
 * of events.
 * @module
 */

import { describeError, messageOf } from "#lib/errors.ts";
import { busStatePath, writeBusState } from "./state_file.ts";
import {
  BusSubscribers,
  missedNote,
  readSubscriberTopic,
  type Subscriber,
  type SubscriberNotice,
} from "./subscribers.ts";
import { ANSWERS_NAMES, BUS_WELCOME, MAX_WAITING_EVENTS } from "./subscriber.ts";
import { type BusPaths, removeSocketFile } from "./paths.ts";
import { piecesOf } from "./pieces.ts";
import { PythonBus } from "./python_bus.ts";
import { type EventLogSettings, LoggedBus } from "./logged_bus.ts";
import { openToAclUsers } from "./acl_users.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { Duplex, Inbox, type SharedPlace } from "#lib/sockets/endpoint.ts";
import { clearInterval, setInterval, type Timer } from "#lib/os/timers.ts";

/** Maximum number of events that wait to be published; then senders wait. */
const PUSHED = 100_000;
/**
 * The pieces of one event take at most this part of a subscriber's queue. A queue that was full takes messages again
 * when half of it was read, so an event fits whole after a note did.
 */
const EVENT_SHARE = 20;
/** Interval of tries to send to subscribers that do not read, in milliseconds. */
const TRY_MS = 1_000;

const utf8 = new TextEncoder();
const decoder = new TextDecoder();

/** Options of a {@linkcode BusPump}. */
export interface BusPumpOptions {
  /** Logs subscribers that do not read. */
  readonly log: Logger;
  /** Events queued per subscriber. Default: as many as a subscriber queues itself. */
  readonly maxWaitingEvents?: number;
  /**
   * The address at which threads of this process push events. With it, the successor of the pump's thread takes over
   * the PULL socket: senders stay connected, and no event is lost.
   */
  readonly place?: SharedPlace;
  /** Ids of the users that may listen, besides the process's own. Default: none. */
  readonly listeners?: readonly number[];
  /** The sockets for Python programs of this host. Default: none. */
  readonly python?: BusPaths;
  /** Where events are kept, and how long. Default: they are not. */
  readonly eventLog?: EventLogSettings;
}

/** An open event bus and its loop. */
export class BusPump {
  readonly #paths: BusPaths;
  readonly #log: Logger;
  readonly #maxWaiting: number;
  readonly #mostPieces: number;
  readonly #inbox: Inbox;
  readonly #outlet: Duplex;
  readonly #subscribers = new BusSubscribers((notice) => this.#logNotice(notice));
  #published = 0;
  #python: PythonBus | undefined;
  #logged: LoggedBus | undefined;
  #trying: Timer | undefined;
  #running: Promise<unknown> | undefined;

  private constructor(paths: BusPaths, { log, maxWaitingEvents = MAX_WAITING_EVENTS, place }: BusPumpOptions) {
    this.#paths = paths;
    this.#log = log;
    this.#maxWaiting = maxWaitingEvents;
    this.#mostPieces = Math.max(1, Math.floor(maxWaitingEvents / EVENT_SHARE));
    const settings = { highWaterMark: PUSHED };
    this.#inbox = place === undefined
      ? Inbox.pull(settings)
      : Inbox.inherited(place.context, [place.address, `ipc://${paths.pull}`], settings);
    // The limit never changes: libzmq learns how much was read at multiples of half of it. When it was lowered for
    // large events, queues that had been read counted as full for good, and their subscribers got nothing any more.
    this.#outlet = Duplex.xpub({ highWaterMark: maxWaitingEvents });
    this.#outlet.welcome(BUS_WELCOME + ANSWERS_NAMES);
    this.#outlet.dropSilently = false;
  }

  /**
   * Opens a bus; socket files of a dead bus are replaced.
   * @throws {SocketError} If it cannot.
   */
  static async open(paths: BusPaths, options: BusPumpOptions): Promise<BusPump> {
    const pump = new BusPump(paths, options);
    try {
      if (options.place === undefined) await pump.#inbox.bind(`ipc://${paths.pull}`);
      await pump.#outlet.bind(`ipc://${paths.pub}`);
      for (const path of [paths.pull, paths.pub]) Deno.chmodSync(path, 0o600);
      pump.#admit(options.listeners ?? []);
      pump.#openToPython(options);
      await pump.#openLog(options);
    } catch (error) {
      await pump.close();
      throw error;
    }
    const running = [pump.#publish(), pump.#receive()].map((loop) =>
      loop.catch((error) => options.log.critical(`The event bus has stopped: ${describeError(error)}`))
    );
    pump.#running = Promise.all(running);
    return pump;
  }

  #admit(listeners: readonly number[]): void {
    if (listeners.length === 0) return;
    try {
      openToAclUsers(this.#paths.pub, "connect", listeners);
    } catch (error) {
      const reason = messageOf(error);
      this.#log.error(`publisher_acl: the event bus cannot be opened to the users that it names: ${reason}`);
    }
  }

  /** Our own processes do not need it, so the bus also runs if this part cannot be opened. */
  #openToPython({ python, log, listeners = [] }: BusPumpOptions): void {
    if (python === undefined) return;
    try {
      this.#python = PythonBus.open(python, { log, listeners, publish: (event) => this.#publishOne(event) });
    } catch (error) {
      log.error(`Python programs cannot reach the event bus: ${messageOf(error)}`);
    }
  }

  /** Without its log the bus runs as well. */
  async #openLog({ eventLog, log }: BusPumpOptions): Promise<void> {
    if (eventLog === undefined) return;
    try {
      this.#logged = await LoggedBus.open(this.#paths, eventLog, log);
    } catch (error) {
      log.error(`Events are not kept: the event log in ${eventLog.directory} cannot be opened: ${messageOf(error)}`);
    }
  }

  /** Its counters, in one line. */
  describe(): string {
    const python = this.#python === undefined ? "" : `, ${this.#python.subscribers} Python programs`;
    return `${this.#published} events published, ${this.#subscribers.all.length} subscribers${python}`;
  }

  async #publish(): Promise<void> {
    for (let frames = await this.#inbox.receive(); frames !== undefined; frames = await this.#inbox.receive()) {
      this.#publishOne(frames[0]);
    }
  }

  #publishOne(frame: Uint8Array): void {
    const stuck = this.#trying === undefined ? [] : this.#subscribers.stuckOn(tagOf(frame));
    for (const subscriber of stuck) this.#note(subscriber);
    for (const piece of piecesOf(frame, { max: this.#mostPieces, number: this.#published })) {
      if (this.#outlet.offer([piece])) continue;
      stuck.push(...this.#findStuck(tagOf(frame)));
      this.#outlet.dropSilently = true;
      this.#outlet.offer([piece]);
      this.#outlet.dropSilently = false;
    }
    for (const subscriber of stuck) subscriber.dropped++;
    this.#published++;
    this.#python?.publish(frame);
    this.#logged?.append(frame);
  }

  /** Those subscribers to `tag` whose queue has become full. */
  #findStuck(tag: string): Subscriber[] {
    const stuck = this.#subscribers.readingOn(tag).filter((subscriber) => !this.#note(subscriber));
    for (const subscriber of stuck) this.#subscribers.full(subscriber);
    return stuck;
  }

  #note(subscriber: Subscriber): boolean {
    return this.#outlet.offer([utf8.encode(missedNote(subscriber))]);
  }

  async #receive(): Promise<void> {
    const outlet = this.#outlet;
    for (let frames = await outlet.receive(); frames !== undefined; frames = await outlet.receive()) {
      const topic = decoder.decode(frames[0].subarray(1));
      const come = frames[0][0] === 1;
      this.#subscribers.subscriptionChanged(topic, come);
      // The subscriber's name comes last, so all its subscriptions are active.
      if (come && readSubscriberTopic(topic) !== undefined) outlet.offer([utf8.encode(`${topic}\n0`)]);
    }
  }

  #logNotice({ what, subscriber: { name, dropped } }: SubscriberNotice): void {
    const who = `The subscriber of the event bus in process ${name.pid}`;
    if (what === "stuck") {
      this.#log.warning(
        `${who} does not read: ${this.#maxWaiting} events are queued for it, and it misses further events`,
      );
    } else {
      const now = what === "reads again" ? what : "has gone";
      this.#log.warning(`${who} ${now}; it has missed ${dropped} events so far`);
    }
    this.#write();
    const stuck = this.#subscribers.all.some((subscriber) => subscriber.stuck);
    if (stuck) this.#trying ??= setInterval(() => this.#tryAgain(), TRY_MS);
    else {
      clearInterval(this.#trying);
      this.#trying = undefined;
    }
  }

  #tryAgain(): void {
    for (const subscriber of this.#subscribers.all) if (subscriber.stuck) this.#note(subscriber);
    this.#write();
  }

  #write(): void {
    try {
      writeBusState(this.#paths, this.#subscribers.all);
    } catch (error) {
      const reason = messageOf(error);
      this.#log.error(`The list of the event bus's subscribers could not be written: ${reason}`);
    }
  }

  /** Closes the bus and removes its files. May be called twice. */
  async close(): Promise<void> {
    clearInterval(this.#trying);
    this.#inbox.close();
    this.#outlet.close();
    await this.#running;
    await this.#python?.close();
    await this.#logged?.close();
    for (const path of [this.#paths.pull, this.#paths.pub, busStatePath(this.#paths)]) removeSocketFile(path);
  }
}

/** The tag of a packed event. */
function tagOf(frame: Uint8Array): string {
  const end = frame.indexOf(0x0a);
  return decoder.decode(end < 0 ? frame : frame.subarray(0, end));
}
