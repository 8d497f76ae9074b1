/**
 * Gives the events of the master's log to one returner. What a returner could not take waits in the log: a server that
 * is away for less than `event_log_keep` misses nothing, also over a restart of the master.
 * @module
 */

import { type BusEvent, readMatching } from "#lib/bus/event.ts";
import { LogFollower } from "#lib/bus/log_follower.ts";
import type { BusPaths } from "#lib/bus/paths.ts";
import { peerMarkOf } from "#lib/bus/peer_mark.ts";
import { messageOf, UnavailableError, UnstorableError } from "#lib/errors.ts";
import type { LoggedEvent } from "#lib/event_log/reader.ts";
import { sleep } from "#lib/os/sleep.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";
import { type EventPosition, readPosition, writePosition } from "#lib/returners/event_position.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { EventSink } from "./event_sink.ts";

/** Events of one call without `event_return_queue`: those that are there, so that a burst is no call for each. */
const MOST_EVENTS = 100;
/** Bytes of the events of one call; one event may have more. */
const MOST_BYTES = 16 * 2 ** 20;
/** First and longest wait after a call that failed, in milliseconds. */
const FIRST_RETRY_MS = 1_000, LONGEST_RETRY_MS = 60_000;
/** Calls that fail before events are tried one by one: it may be that one of them cannot be stored. */
const TRIES_TOGETHER = 3;
/**
 * Calls that fail before all waiting events are tried one by one, however many of the first are refused: it need not be
 * the server, whoever sends events may send many that cannot be stored.
 */
const TRIES_OF_FEW = 6;
/** Milliseconds of one call. */
const CALL_MS = 120_000;
/** Interval of records of a position whose events nobody wants, in milliseconds. */
const RECORD_MS = 1_000;

/** The parts of an {@linkcode EventForwarder}. */
export interface ForwarderParts {
  readonly sink: EventSink;
  readonly paths: BusPaths;
  /** The directory of the event log. */
  readonly logDirectory: string;
  /** The directory of positions. */
  readonly directory: string;
  /** When the master was started, in milliseconds since the epoch: a new returner begins there. */
  readonly startedMs: number;
  /** Events of one call that are waited for; 0: none is waited for. */
  readonly queue: number;
  /** Milliseconds for which they are waited for; 0: no limit. */
  readonly queueMs: number;
  readonly log: Logger;
}

/** An event that waits for its call. */
interface Waiting {
  readonly number: number;
  readonly event: BusEvent;
  readonly bytes: number;
}

/** An event that the returner did not take. */
interface Refusal {
  readonly waiting: Waiting;
  readonly reason: string;
  /** Whether it can never be stored, because of what is in it. */
  readonly isContent: boolean;
}

const NEW: EventPosition = { log: "", number: -1, stored: 0, dropped: 0, error: "" };

/** Gives events to one returner. */
export class EventForwarder {
  readonly #parts: ForwarderParts;
  readonly #ending = new AbortController();
  readonly #waiting: Waiting[] = [];
  #pending: LoggedEvent[] = [];
  #bytes = 0;
  #position: EventPosition = NEW;
  #recordedMs = -Infinity;
  #failures = 0;
  /** When waiting events are given, on the clock of `performance.now()`. */
  #dueMs = Infinity;
  #follower: LogFollower | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: ForwarderParts) {
    this.#parts = parts;
  }

  /**
   * Opens the log and begins. The returner goes on where it was; a new one begins with the events since the start of
   * the master.
   * @throws {NoMasterError} If the bus has no log.
   */
  async start(): Promise<void> {
    const { paths, logDirectory, directory, sink, startedMs, log } = this.#parts;
    Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
    const before = readPosition(directory, sink.option, sink.name);
    const follower = await LogFollower.open({ paths, directory: logDirectory }, (reader) => {
      if (before !== undefined && before.log === reader.id) reader.seek(before.number + 1);
      else reader.seekTime(startedMs);
    });
    this.#follower = follower;
    this.#position = { ...before ?? NEW, log: follower.id ?? "", number: follower.next - 1 };
    this.#running = this.#run(follower).catch((error) =>
      log.critical(`${this.#name} gets no events any more: ${messageOf(error)}`)
    );
  }

  /** What it does, in one line. */
  describe(): string {
    const { stored } = this.#position;
    return `${this.#name}: ${stored} events stored, ${this.#waiting.length} waiting`;
  }

  /** Gives what waits, once, and ends. */
  async close(): Promise<void> {
    this.#ending.abort();
    this.#follower?.close();
    await this.#running;
  }

  get #name(): string {
    const { option, name } = this.#parts.sink;
    return `${option} ${name}`;
  }

  async #run(follower: LogFollower): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const isFull = this.#collect();
      const leftMs = this.#dueMs - performance.now();
      if (this.#waiting.length > 0 && leftMs <= 0) {
        await this.#give();
      } else if (isFull) {
        await sleep(leftMs, signal).catch(() => {});
      } else {
        this.#record();
        const batch = await follower.read(Math.max(0, Math.min(leftMs, RECORD_MS)));
        if (batch === undefined) continue;
        if (batch.missed > 0) this.#drop(batch.missed, "they were not in the event log any more");
        this.#position = { ...this.#position, log: follower.id ?? "" };
        this.#pending = [...batch.events];
      }
    }
    if (this.#waiting.length > 0 && this.#failures === 0) await this.#give();
    this.#record(true);
  }

  /**
   * Takes events of the log until a call is full.
   * @returns Whether no further event can be taken now.
   */
  #collect(): boolean {
    const { sink, queue, queueMs } = this.#parts;
    const most = queue > 1 ? queue : MOST_EVENTS;
    let taken = 0;
    const isFull = () => this.#waiting.length >= most || this.#bytes >= MOST_BYTES;
    for (const { number, frame } of this.#pending) {
      if (isFull()) break;
      taken++;
      const event = readMatching(frame, (tag) => sink.wants(tag));
      // An event of another master of the cluster is stored by that one.
      if (event !== undefined && peerMarkOf(event.data) === undefined) {
        if (this.#waiting.length === 0 && this.#failures === 0) {
          this.#dueMs = queue <= 1 ? 0 : queueMs > 0 ? performance.now() + queueMs : Infinity;
        }
        this.#waiting.push({ number, event, bytes: frame.length });
        this.#bytes += frame.length;
      } else if (this.#waiting.length === 0) {
        this.#position = { ...this.#position, number };
      }
    }
    this.#pending.splice(0, taken);
    if (isFull() && this.#failures === 0) this.#dueMs = 0;
    return isFull();
  }

  /** Calls the returner with the waiting events. After a failure they wait on. */
  async #give(): Promise<void> {
    try {
      await this.#call(this.#waiting.map(({ event }) => event), (count) => this.#done(count));
      if (this.#failures > 0) this.#parts.log.info(`${this.#name} takes events again`);
      this.#failures = 0;
      this.#dueMs = Infinity;
    } catch (error) {
      await this.#fail(error);
    }
    this.#record(true);
  }

  async #call(events: readonly BusEvent[], stored: (count: number) => void): Promise<void> {
    const { promise: tooLate, reject } = Promise.withResolvers<never>();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(new Error(`it took more than ${CALL_MS / 1000} s`));
    }, CALL_MS);
    // What a call has stored later is not counted: other events may be the first ones by then.
    const storing = this.#parts.sink.store(events, (count) => {
      if (!isLate) stored(count);
    });
    try {
      await Promise.race([storing, tooLate]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #fail(error: unknown): Promise<void> {
    const { log, sink } = this.#parts;
    const reason = messageOf(error);
    this.#position = { ...this.#position, error: reason };
    if (++this.#failures === 1) {
      log.error(
        error instanceof UnavailableError
          ? `${sink.option}: there is no returner ${sink.name} that can store this; the events wait in the event log`
          : `Could not store events - returner '${sink.name}' raised exception: ${reason}`,
      );
    }
    const isContent = error instanceof UnstorableError;
    if (isContent || (this.#failures >= TRIES_TOGETHER && this.#waiting.length > 1)) {
      if (await this.#giveApart(this.#failures >= TRIES_OF_FEW ? Infinity : TRIES_TOGETHER)) return;
    }
    this.#dueMs = performance.now() + Math.min(FIRST_RETRY_MS * 2 ** (this.#failures - 1), LONGEST_RETRY_MS);
  }

  /**
   * Gives the waiting events one by one, and drops those that can never be stored.
   * @param few So many are tried if none is taken.
   * @returns Whether no event waits any more: else the server seems to be away.
   */
  async #giveApart(few: number): Promise<boolean> {
    const all = [...this.#waiting];
    const lost: Refusal[] = [], refused: Refusal[] = [];
    let taken = 0;
    for (const waiting of all) {
      if (this.#ending.signal.aborted) return false;
      const refusal = await this.#giveOne(waiting);
      if (refusal === undefined) taken++;
      else (refusal.isContent ? lost : refused).push(refusal);
      // Nothing was taken so far: it is rather the server than each of these events.
      if (taken === 0 && refused.length >= few) break;
    }
    if (taken === 0 && refused.length > 0) {
      for (const { waiting } of lost) this.#forget(waiting);
      this.#dropAll(lost);
      return false;
    }
    // The server works now. It may have been away when the first ones were refused.
    for (const { waiting } of refused) {
      const refusal = await this.#giveOne(waiting);
      if (refusal !== undefined) lost.push(refusal);
    }
    this.#done(all.length);
    this.#position = { ...this.#position, stored: this.#position.stored - lost.length };
    this.#dropAll(lost);
    this.#failures = 0;
    this.#dueMs = Infinity;
    return true;
  }

  /** Gives one event. */
  async #giveOne(waiting: Waiting): Promise<Refusal | undefined> {
    try {
      await this.#call([waiting.event], () => {});
      return undefined;
    } catch (error) {
      return { waiting, reason: messageOf(error), isContent: error instanceof UnstorableError };
    }
  }

  #forget(waiting: Waiting): void {
    this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
    this.#bytes -= waiting.bytes;
  }

  #dropAll(lost: readonly Refusal[]): void {
    for (const { waiting: { event, number }, reason } of lost) {
      this.#drop(1, `event ${number} with the tag ${event.tag} cannot be stored: ${reason}`);
    }
  }

  /** The first waiting events are stored. */
  #done(count: number): void {
    const done = this.#waiting.splice(0, count);
    this.#bytes -= done.reduce((sum, { bytes }) => sum + bytes, 0);
    const { stored, number: before } = this.#position, number = done.at(-1)?.number ?? before;
    this.#position = { ...this.#position, number, stored: stored + done.length, error: "" };
  }

  #drop(count: number, why: string): void {
    this.#position = { ...this.#position, dropped: this.#position.dropped + count, error: why };
    this.#parts.log.error(`${this.#name}: ${count} events are lost: ${why}`);
  }

  /** Writes the position, at most once a second unless it must be written. */
  #record(must = false): void {
    const now = performance.now();
    if (!must && now - this.#recordedMs < RECORD_MS) return;
    this.#recordedMs = now;
    const { directory, sink, log } = this.#parts;
    try {
      writePosition(directory, sink.option, sink.name, this.#position);
    } catch (error) {
      log.error(`The position of ${this.#name} cannot be written: ${messageOf(error)}`);
    }
  }
}
