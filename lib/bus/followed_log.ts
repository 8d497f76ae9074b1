/**
 * The events of a running bus one after the other, read in its event log: what comes while the reader is busy waits
 * there.
 * @module
 */

import { sameBytes } from "#lib/crypto/same_bytes.ts";
import type { EventLogReader } from "#lib/event_log/reader.ts";
import { type BusEvent, readMatching } from "./event.ts";
import { LogFollower } from "./log_follower.ts";
import type { BusPaths } from "./paths.ts";

/** A running bus and the directory of its log. */
export interface LoggedPlace {
  readonly paths: BusPaths;
  readonly directory: string;
}

/** The events from a place in the log on. */
export class FollowedLog {
  readonly #follower: LogFollower;
  readonly #prefixes: readonly string[];
  readonly #onMissed: (count: number) => void;
  /** What was read and not returned yet, the first one last. */
  #read: Uint8Array[] = [];

  private constructor(follower: LogFollower, prefixes: readonly string[], onMissed: (count: number) => void) {
    this.#follower = follower;
    this.#prefixes = prefixes;
    this.#onMissed = onMissed;
  }

  /**
   * Opens it.
   * @param prefixes Beginnings of the tags that count.
   * @param seek Puts the reader where it begins.
   * @param onMissed Called with the number of events that were not in the log any more, before those after them.
   * @throws {NoMasterError} If no bus with a log is running there.
   * @throws What `seek` throws.
   */
  static async open(
    place: LoggedPlace,
    prefixes: readonly string[],
    seek: (reader: EventLogReader) => void,
    onMissed: (count: number) => void = () => {},
  ): Promise<FollowedLog> {
    return new FollowedLog(await LogFollower.open(place, seek), prefixes, onMissed);
  }

  /**
   * Waits for an event.
   * @param wanted Selects events by tag. Default: all.
   * @returns `undefined` after `timeoutMs` (negative: no limit, the default), or when closed.
   */
  async next(timeoutMs = -1, wanted: (tag: string) => boolean = () => true): Promise<BusEvent | undefined> {
    const deadline = timeoutMs < 0 ? Infinity : performance.now() + timeoutMs;
    const isWanted = (tag: string) => this.#prefixes.some((prefix) => tag.startsWith(prefix)) && wanted(tag);
    for (;;) {
      for (let frame = this.#read.pop(); frame !== undefined; frame = this.#read.pop()) {
        const event = readMatching(frame, isWanted);
        if (event !== undefined) return event;
      }
      const batch = await this.#follower.read(Math.max(0, deadline - performance.now()));
      if (batch === undefined) return undefined;
      if (batch.missed > 0) this.#onMissed(batch.missed);
      this.#read = batch.events.map(({ frame }) => frame).reverse();
    }
  }

  close(): void {
    this.#read = [];
    this.#follower.close();
  }
}

/**
 * Puts the reader after an event that was published at `ms` or later, or, if it is not there, where that time is.
 * @param frame The event; without it, that time counts.
 */
export function seekAfter(reader: EventLogReader, frame: Uint8Array | undefined, ms: number): void {
  reader.seekTime(ms);
  if (frame === undefined) return;
  for (let { events } = reader.read(); events.length > 0; { events } = reader.read()) {
    const found = events.find((event) => sameBytes(event.frame, frame));
    if (found !== undefined) return reader.seek(found.number + 1);
  }
  reader.seekTime(ms);
}
