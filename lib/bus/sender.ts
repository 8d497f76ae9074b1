/**
 * Fires events on a bus: pushes them to `…_event_pull.ipc`; the pump (pump.ts) publishes them.
 * @module
 */

import { type EventData, packEvent } from "./event.ts";
import { Outbox, type SharedPlace } from "#lib/sockets/endpoint.ts";
import { CONNECT_MS } from "./paths.ts";
import type { Logger } from "#lib/runtime/log.ts";

/** A connection for firing events on a bus. */
export class EventSender {
  readonly #outbox: Outbox;

  /**
   * Connects to a bus, now or when it starts.
   * @param pull The bus's pull socket: its path, or the address of a bus of this process.
   * @param lingerMs Maximum time that `close` waits for unsent events.
   */
  constructor(pull: string | SharedPlace, lingerMs = 1_000) {
    const settings = { highWaterMark: 0, lingerMs, reconnectMs: 20 };
    if (typeof pull !== "string") {
      this.#outbox = Outbox.pushTo(pull, settings);
      return;
    }
    this.#outbox = Outbox.push(settings);
    this.#outbox.connect(`ipc://${pull}`);
  }

  /**
   * Fires an event; `data` must be stamped.
   * @returns Whether the bus took it within `timeoutMs`.
   */
  async fire(tag: string, data: EventData, timeoutMs = CONNECT_MS): Promise<boolean> {
    return await this.firePacked(packEvent(tag, data), timeoutMs);
  }

  /** Like {@linkcode fire}; logs an error if the bus did not take the event. */
  async fireOrLog(tag: string, data: EventData, log: Logger): Promise<void> {
    if (!await this.fire(tag, data)) log.error(`The event bus did not take the event ${tag}`);
  }

  /** Like {@linkcode fire}, for a packed event. */
  async firePacked(event: Uint8Array, timeoutMs = CONNECT_MS): Promise<boolean> {
    return await this.#outbox.send([event], timeoutMs);
  }

  /** Closes the connection; unsent events are still sent for a short time. */
  close(): void {
    this.#outbox.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
