/**
 * A subscription to a bus with an event log: when the bus had to skip events for it, because it did not read in time,
 * it goes on in the log, from the last event that it got. So it gets each event once.
 * @module
 */

import { NoMasterError } from "#lib/errors.ts";
import type { BusEvent } from "./event.ts";
import type { FollowedLog } from "./followed_log.ts";
import type { BusPaths } from "./paths.ts";
import { EventSubscriber } from "./subscriber.ts";

/** The bus of a subscription. */
export interface SubscribedBus {
  readonly paths: BusPaths;
  /** The directory of its event log; `undefined` if its events are not kept. */
  readonly directory: string | undefined;
}

/** An active subscription. */
export class LoggedSubscriber {
  readonly #bus: SubscribedBus;
  readonly #prefixes: readonly string[];
  readonly #events: EventSubscriber;
  /** When it began, in milliseconds since the epoch. */
  readonly #sinceMs = Date.now();
  #log: FollowedLog | undefined;
  #closed = false;

  private constructor(bus: SubscribedBus, prefixes: readonly string[], events: EventSubscriber) {
    this.#bus = bus;
    this.#prefixes = prefixes;
    this.#events = events;
  }

  /**
   * Subscribes to every event whose tag begins with one of `prefixes`; resolves when the subscription is active.
   * @throws {NoMasterError} If no bus answers.
   */
  static async connect(bus: SubscribedBus, prefixes: readonly string[]): Promise<LoggedSubscriber> {
    const events = await EventSubscriber.connect(bus.paths.pub, prefixes, { stopsAtGap: bus.directory !== undefined });
    return new LoggedSubscriber(bus, prefixes, events);
  }

  /** Whether it reads the log, as the bus had to skip events for it. */
  get readsLog(): boolean {
    return this.#log !== undefined;
  }

  /** As {@linkcode EventSubscriber.restarts}. */
  get restarts(): number {
    return this.#events.restarts;
  }

  /** As {@linkcode EventSubscriber.next}. */
  async next(timeoutMs = -1, wanted: (tag: string) => boolean = () => true): Promise<BusEvent | undefined> {
    const deadline = performance.now() + timeoutMs;
    const leftMs = () => timeoutMs < 0 ? -1 : Math.max(0, deadline - performance.now());
    for (;;) {
      if (this.#log !== undefined) return await this.#log.next(leftMs(), wanted);
      const event = await this.#events.next(leftMs(), wanted);
      const { directory } = this.#bus;
      // Without a log it stops at no gap.
      if (event !== undefined || !this.#events.atGap || directory === undefined) return event;
      await this.#followLog(directory);
    }
  }

  async #followLog(directory: string): Promise<void> {
    const last = this.#events.passGap();
    const { FollowedLog, seekAfter } = await import("./followed_log.ts");
    try {
      const place = { paths: this.#bus.paths, directory };
      const log = await FollowedLog.open(place, this.#prefixes, (reader) => seekAfter(reader, last, this.#sinceMs));
      if (this.#closed) return log.close();
      this.#log = log;
      this.#events.close();
    } catch (error) {
      if (!(error instanceof NoMasterError || error instanceof Deno.errors.PermissionDenied)) throw error;
      this.#events.ignoreGaps(); // the log cannot be read, as by a user who may only listen
    }
  }

  close(): void {
    this.#closed = true;
    this.#events.close();
    this.#log?.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
