/**
 * Follows the event log of a running bus: reads the log, and waits for the bus to say that there is more. So a reader
 * that is slow, or was away, misses nothing that the log keeps.
 * @module
 */

import { EventLogReader, eventsOf, type LogBatch } from "#lib/event_log/reader.ts";
import { NoMasterError } from "#lib/errors.ts";
import { Inbox } from "#lib/sockets/endpoint.ts";
import { type BusPaths, CONNECT_MS, logSocket } from "./paths.ts";
import { BUS_WELCOME } from "./subscriber.ts";

/** Longest wait for a message before the log is looked at again: a restarted bus may have told its predecessor's. */
const LOOK_MS = 2_000;
const NUMBER_BYTES = 8;

/** A reader of the log of a running bus. */
export class LogFollower {
  readonly #reader: EventLogReader;
  readonly #inbox: Inbox;

  private constructor(reader: EventLogReader, inbox: Inbox) {
    this.#reader = reader;
    this.#inbox = inbox;
  }

  /**
   * Opens it. What is published from now on is found too.
   * @param directory The log's.
   * @param seek Puts the reader where it begins.
   * @throws {NoMasterError} If no bus with a log is running there.
   * @throws What `seek` throws.
   */
  static async open(
    { paths, directory }: { readonly paths: BusPaths; readonly directory: string },
    seek: (reader: EventLogReader) => void,
  ): Promise<LogFollower> {
    const inbox = Inbox.subscriber({ reconnectMs: 20 });
    const reader = new EventLogReader(directory);
    try {
      inbox.subscribe("");
      inbox.connect(`ipc://${logSocket(paths)}`);
      if (await inbox.receive(CONNECT_MS) === undefined) {
        throw new NoMasterError(`Nothing answers on the socket of the event log ${logSocket(paths)}`);
      }
      seek(reader);
      return new LogFollower(reader, inbox);
    } catch (error) {
      inbox.close();
      reader.close();
      throw error;
    }
  }

  /** Distinguishes this log from one that was lost; `undefined` if there is none. */
  get id(): string | undefined {
    return this.#reader.id;
  }

  /** The number of the event that comes next. */
  get next(): number {
    return this.#reader.next;
  }

  /**
   * Waits for events.
   * @returns At least one event; `undefined` when closed, or after `timeoutMs` (default: no limit).
   */
  async read(timeoutMs = Infinity): Promise<LogBatch | undefined> {
    const deadline = performance.now() + timeoutMs;
    while (!this.#inbox.closed) {
      const batch = this.#reader.read();
      if (batch.events.length > 0) return batch;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) return undefined;
      const message = await this.#inbox.receive(Math.min(leftMs, LOOK_MS));
      const unwritten = message === undefined ? undefined : this.#unwritten(message[0]);
      if (unwritten !== undefined) return unwritten;
    }
    return undefined;
  }

  /** The events that come in a message as they are not in the log. */
  #unwritten(message: Uint8Array): LogBatch | undefined {
    if (message.length <= NUMBER_BYTES || message[0] === BUS_WELCOME.charCodeAt(0)) return undefined;
    const next = new DataView(message.buffer, message.byteOffset).getFloat64(0);
    const records = message.subarray(NUMBER_BYTES);
    const count = eventsOf(records, 0).length, known = this.#reader.next;
    const events = eventsOf(records, next - count).filter(({ number }) => number >= known);
    if (events.length === 0) return undefined;
    this.#reader.pass(next);
    return { events, missed: known < 0 ? 0 : events[0].number - known };
  }

  close(): void {
    this.#inbox.close();
    this.#reader.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
