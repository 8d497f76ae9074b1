/**
 * Fires events on a bus: pushes them to `…_event_pull.ipc`, from where its pump (pump.ts) publishes them.
 * @module
 */

import { type EventData, packEvent } from "./event.ts";
import { Outbox, type SharedPlace } from "../sockets/endpoint.ts";
import { CONNECT_MS } from "./paths.ts";

/** A way to fire events on a bus. */
export class EventSender {
  readonly #outbox: Outbox;

  /**
   * Connects to a bus, now or when it is there.
   * @param pull The bus's pull socket: its path, or the place of a bus of this process.
   * @param lingerMs How long `close` waits for events under way.
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

  /** Fires an event; it is stamped by whoever built `data`. @returns Whether the bus took it within `timeoutMs`. */
  async fire(tag: string, data: EventData, timeoutMs = CONNECT_MS): Promise<boolean> {
    return await this.firePacked(packEvent(tag, data), timeoutMs);
  }

  /** As {@linkcode fire}, of an event that is packed. */
  async firePacked(event: Uint8Array, timeoutMs = CONNECT_MS): Promise<boolean> {
    return await this.#outbox.send([event], timeoutMs);
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
