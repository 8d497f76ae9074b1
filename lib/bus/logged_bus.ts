/**
 * The log of a bus: the bus gives it each event that it publishes. It tells the log's readers (log_follower.ts) on a
 * socket of its own when events were written; events that cannot be written, as the disk is full, it sends them there.
 *
 * A message: the number of the next event (a double of eight bytes), and records of the events before it that are not
 * in the log, if there are any.
 * @module
 */

import { EventLogWriter, type LogLimits } from "#lib/event_log/writer.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { Duplex } from "#lib/sockets/endpoint.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { type BusPaths, logSocket, removeSocketFile } from "./paths.ts";
import { BUS_WELCOME } from "./subscriber.ts";

/** Messages that wait for a reader; it finds what it missed in the log. */
const MAX_WAITING = 10_000;

/** Where events are kept, and how long. */
export interface EventLogSettings extends LogLimits {
  readonly directory: string;
  /** The number of the first event of a log that is made anew. Default: 0. */
  readonly firstNumber?: number;
}

/** An open log of a bus. */
export class LoggedBus {
  readonly #writer: EventLogWriter;
  readonly #outlet: Duplex;
  readonly #path: string;
  #readers = 0;
  readonly #receiving: Promise<void>;

  /** @throws What opening the log throws. */
  private constructor(
    outlet: Duplex,
    path: string,
    { directory, firstNumber, ...limits }: EventLogSettings,
    log: Logger,
  ) {
    this.#path = path;
    this.#outlet = outlet;
    const onWritten = (next: number, unwritten?: Uint8Array) => this.#tell(next, unwritten);
    this.#writer = new EventLogWriter(directory, limits, {
      log,
      onWritten,
      ...firstNumber !== undefined && { firstNumber },
    });
    this.#receiving = this.#receive();
  }

  /**
   * Opens the log, and the socket of its readers.
   * @throws {Error} If it cannot.
   */
  static async open(paths: BusPaths, settings: EventLogSettings, log: Logger): Promise<LoggedBus> {
    const path = logSocket(paths);
    const outlet = Duplex.xpub({ highWaterMark: MAX_WAITING });
    outlet.welcome(BUS_WELCOME);
    try {
      await outlet.bind(`ipc://${path}`);
      Deno.chmodSync(path, 0o600);
      return new LoggedBus(outlet, path, settings, log);
    } catch (error) {
      outlet.close();
      removeSocketFile(path);
      throw error;
    }
  }

  /** Takes an event that is published. */
  append(frame: Uint8Array): void {
    this.#writer.append(frame);
  }

  #tell(next: number, unwritten: Uint8Array = new Uint8Array()): void {
    if (this.#readers === 0) return;
    const number = new Uint8Array(8);
    new DataView(number.buffer).setFloat64(0, next);
    this.#outlet.offer([unwritten.length === 0 ? number : joinBytes([number, unwritten])]);
  }

  async #receive(): Promise<void> {
    const outlet = this.#outlet;
    for (let frames = await outlet.receive(); frames !== undefined; frames = await outlet.receive()) {
      this.#readers = frames[0][0] === 1 ? 1 : 0; // it reports the first reader, and that the last one has gone
    }
  }

  /** Writes what waits, and closes both. May be called twice. */
  async close(): Promise<void> {
    this.#writer.close();
    this.#outlet.close();
    await this.#receiving;
    removeSocketFile(this.#path);
  }
}
