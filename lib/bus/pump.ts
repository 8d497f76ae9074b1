/**
 * The pump of an event bus: takes what is pushed, and publishes it, in a thread of the master's or beside what else a minion does.
 *
 * Each subscriber has a queue of bounded length and, roughly, size. One that does not read loses what does not fit, and that is
 * counted (subscribers.ts), logged, and in a file (state_file.ts), which `salt-run bus.subscribers` shows of the master's bus;
 * the others lose nothing. Knows of events where their tags end, and no more.
 * @module
 */

import { busStatePath, writeBusState } from "./state_file.ts";
import { type BusNews, BusSubscribers, missedNote, readSubscriberTopic, type Subscriber } from "./subscribers.ts";
import { ANSWERS_NAMES, BUS_WELCOME, KEPT_EVENTS } from "./subscriber.ts";
import { type BusPaths, removeSocketFile } from "./paths.ts";
import { openToGuests } from "./guests.ts";
import type { Logger } from "../process/log.ts";
import { Duplex, Inbox, type SharedPlace } from "../sockets/endpoint.ts";

/** What is kept for a subscriber at most, in bytes, as far as the events are of like size. */
const KEPT_BYTES = 64 * 1024 * 1024;
/** The fewest events that are kept, however large. */
const FEWEST = 100;
/** After so many events their mean size is looked at again. */
const SIZED = 256;
/** What may wait to be published, in events; whoever pushes more waits. */
const PUSHED = 100_000;
/** How often those that do not read are tried, in milliseconds. */
const TRY_MS = 1_000;

const utf8 = new TextEncoder();
const decoder = new TextDecoder();

/** What a pump is made of. */
export interface BusPumpOptions {
  /** Where it tells who does not read. */
  readonly log: Logger;
  /** How many events are kept for a subscriber. Default: as many as a subscriber keeps itself. */
  readonly keptEvents?: number;
  /**
   * Where threads of this process push their events. Of such a pump the thread's successor goes on with the socket that events
   * are pushed to: whoever pushes is still connected, and what came meanwhile is there.
   */
  readonly place?: SharedPlace;
  /** The ids of the users who may listen beside its own. Default: none. */
  readonly listeners?: readonly number[];
}

/** A running bus. */
export class BusPump {
  readonly #paths: BusPaths;
  readonly #log: Logger;
  readonly #most: number;
  readonly #inbox: Inbox;
  readonly #outlet: Duplex;
  readonly #subscribers = new BusSubscribers((news) => this.#tell(news));
  #published = 0;
  /** Bytes of the last events, of which there are less than {@linkcode SIZED}. */
  #bytes = 0;
  #kept: number;
  #trying: ReturnType<typeof setInterval> | undefined;
  #running: Promise<unknown> | undefined;

  private constructor(paths: BusPaths, { log, keptEvents = KEPT_EVENTS, place }: BusPumpOptions) {
    this.#paths = paths;
    this.#log = log;
    this.#most = this.#kept = keptEvents;
    const settings = { highWaterMark: PUSHED };
    this.#inbox = place === undefined
      ? Inbox.pull(settings)
      : Inbox.inherited(place.context, [place.address, `ipc://${paths.pull}`], settings);
    this.#outlet = Duplex.xpub({ highWaterMark: keptEvents });
    this.#outlet.welcome(BUS_WELCOME + ANSWERS_NAMES);
    this.#outlet.dropSilently = false;
  }

  /** Opens a bus; left-over socket files of a bus that died are replaced. @throws {SocketError} If it cannot. */
  static async open(paths: BusPaths, options: BusPumpOptions): Promise<BusPump> {
    const pump = new BusPump(paths, options);
    try {
      if (options.place === undefined) await pump.#inbox.bind(`ipc://${paths.pull}`);
      await pump.#outlet.bind(`ipc://${paths.pub}`);
      for (const path of [paths.pull, paths.pub]) Deno.chmodSync(path, 0o600);
      pump.#admit(options.listeners ?? []);
    } catch (error) {
      await pump.close();
      throw error;
    }
    const running = [pump.#publish(), pump.#hear()].map((loop) =>
      loop.catch((error) =>
        options.log.critical(`The event bus has stopped: ${error instanceof Error ? error.stack : error}`)
      )
    );
    pump.#running = Promise.all(running);
    return pump;
  }

  #admit(listeners: readonly number[]): void {
    if (listeners.length === 0) return;
    try {
      openToGuests(this.#paths.pub, "connect", listeners);
    } catch (error) {
      const reason = error instanceof Error ? error.message : error;
      this.#log.error(`publisher_acl: the event bus cannot be opened to the users that it names: ${reason}`);
    }
  }

  /** What it has done so far, in a line. */
  describe(): string {
    return `${this.#published} events published, ${this.#subscribers.all.length} subscribers`;
  }

  async #publish(): Promise<void> {
    for (let frames = await this.#inbox.receive(); frames !== undefined; frames = await this.#inbox.receive()) {
      const [frame] = frames;
      this.#resize(frame.length);
      const stuck = this.#trying === undefined ? [] : this.#subscribers.stuckOn(tagOf(frame));
      for (const subscriber of stuck) this.#note(subscriber);
      if (!this.#outlet.offer([frame])) {
        const tag = tagOf(frame);
        for (const subscriber of this.#subscribers.readingOn(tag)) {
          if (this.#note(subscriber)) continue;
          this.#subscribers.full(subscriber);
          stuck.push(subscriber);
        }
        this.#outlet.dropSilently = true;
        this.#outlet.offer([frame]);
        this.#outlet.dropSilently = false;
      }
      for (const subscriber of stuck) subscriber.dropped++;
      this.#published++;
    }
  }

  #note(subscriber: Subscriber): boolean {
    return this.#outlet.offer([utf8.encode(missedNote(subscriber))]);
  }

  /** Fewer large events are kept than small ones. */
  #resize(length: number): void {
    this.#bytes += length;
    if ((this.#published + 1) % SIZED > 0) return;
    const fitting = Math.max(FEWEST, Math.min(this.#most, Math.floor(KEPT_BYTES * SIZED / this.#bytes)));
    this.#bytes = 0;
    if (fitting === this.#kept) return;
    this.#kept = fitting;
    this.#outlet.highWaterMark = this.#kept;
  }

  async #hear(): Promise<void> {
    const outlet = this.#outlet;
    for (let frames = await outlet.receive(); frames !== undefined; frames = await outlet.receive()) {
      const topic = decoder.decode(frames[0].subarray(1));
      const come = frames[0][0] === 1;
      this.#subscribers.heard(topic, come);
      // The name comes last: all that its bearer asked for is live.
      if (come && readSubscriberTopic(topic) !== undefined) outlet.offer([utf8.encode(`${topic}\n0`)]);
    }
  }

  #tell({ what, subscriber: { name, dropped } }: BusNews): void {
    const who = `The subscriber of the event bus in process ${name.pid}`;
    if (what === "stuck") {
      this.#log.warning(`${who} does not read: ${this.#kept} events wait for it, and what comes now it misses`);
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
      const reason = error instanceof Error ? error.message : error;
      this.#log.error(`Who listens to the event bus could not be written: ${reason}`);
    }
  }

  /** Ends the bus and removes its files. Twice is fine. */
  async close(): Promise<void> {
    clearInterval(this.#trying);
    this.#inbox.close();
    this.#outlet.close();
    await this.#running;
    for (const path of [this.#paths.pull, this.#paths.pub, busStatePath(this.#paths)]) removeSocketFile(path);
  }
}

/** The tag of a packed event: what stands before its data. */
function tagOf(frame: Uint8Array): string {
  const end = frame.indexOf(0x0a);
  return decoder.decode(end < 0 ? frame : frame.subarray(0, end));
}
