/**
 * Events of beacons on their way to the master: kept in order while it is away, and sent together. Salt loses them
 * then.
 * @module
 */

import type { Logger } from "#lib/runtime/log.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { ValueMap } from "#lib/values/value.ts";

/** Maximum number of events that are kept; the oldest are dropped. */
const MAX_EVENTS = 10_000;
/** Maximum number of events of one request. */
const MAX_TOGETHER = 100;
/** Time before the next attempt, in milliseconds: at first, and at most. */
const RETRY_MS = [1_000, 60_000] as const;

/** How the master took a request; `refused` when it answered that it could not. */
export type Sent = "sent" | "away" | "refused";

/** What a {@linkcode BeaconOutbox} needs. */
export interface OutboxParts {
  readonly log: Logger;
  /** Sends a list of events to the master. Never rejects. */
  send(events: readonly ValueMap[]): Promise<Sent>;
  /** Time before the next attempt, in milliseconds: at first, and at most. Default: 1,000 and 60,000. */
  readonly retryMs?: readonly [first: number, most: number];
}

/** Keeps and sends events. */
export class BeaconOutbox {
  readonly #parts: OutboxParts;
  readonly #closing = new AbortController();
  #events: ValueMap[] = [];
  #dropped = 0;
  #sending = false;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /** Number of events that wait. */
  get size(): number {
    return this.#events.length;
  }

  /** Adds events, in their order. */
  add(events: readonly ValueMap[]): void {
    for (const event of events) this.#events.push(event);
    const over = this.#events.length - MAX_EVENTS;
    if (over > 0) {
      if (this.#dropped === 0) {
        this.#parts.log.error(`More than ${MAX_EVENTS} events of beacons wait for the master; the oldest are dropped`);
      }
      this.#dropped += over;
      this.#events.splice(0, over);
    }
    if (!this.#sending) void this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    this.#sending = true;
    const { log, retryMs = RETRY_MS } = this.#parts;
    let waitMs = retryMs[0];
    while (this.#events.length > 0 && !this.#closing.signal.aborted) {
      const together = this.#events.slice(0, MAX_TOGETHER), dropped = this.#dropped;
      const sent = await this.#parts.send(together);
      if (sent === "away") {
        if (!await this.#pause(waitMs)) break;
        waitMs = Math.min(waitMs * 2, retryMs[1]);
        continue;
      }
      waitMs = retryMs[0];
      if (sent === "refused") log.error(`The master did not take ${together.length} events of beacons`);
      // Those that were dropped meanwhile were the oldest: of the ones that were sent.
      this.#events.splice(0, Math.max(0, together.length - (this.#dropped - dropped)));
    }
    if (this.#dropped > 0 && this.#events.length === 0) {
      log.warning(`${this.#dropped} events of beacons were dropped while the master was away`);
      this.#dropped = 0;
    }
    this.#sending = false;
  }

  /** @returns Whether it goes on. */
  async #pause(ms: number): Promise<boolean> {
    try {
      await sleep(ms, this.#closing.signal);
      return true;
    } catch (error) {
      if (this.#closing.signal.aborted) return false;
      throw error;
    }
  }

  /** Ends it; what waits is dropped. */
  close(): void {
    this.#closing.abort(new Error("The minion ends"));
    this.#events = [];
  }
}
