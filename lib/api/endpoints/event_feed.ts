/**
 * The master's events for all streams of the API: one source for those that begin now, and one for each that goes on
 * from an offset. A source comes back after a restart of the master, and goes on where it was.
 * @module
 */

import { messageOf, NoMasterError } from "#lib/errors.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { sleep } from "#lib/os/sleep.ts";
import { type EventPlace, type EventSource, type FedEvents, openEventSource } from "./event_source.ts";

/** Takes events as they come. Must not throw. */
export type EventListener = (batch: FedEvents) => void;

type FeedLog = Pick<Logger, "error">;

/** Time between two attempts to reach the master, in milliseconds. */
const RETRY_MS = 500;
/** Time after which a loop looks whether anybody still listens, in milliseconds. */
const LOOK_MS = 1_000;

/** The events of one master. */
export class EventFeed {
  readonly #opts: EventPlace;
  readonly #log: FeedLog;
  readonly #loops = new Set<FeedLoop>();
  #shared: FeedLoop | undefined;

  constructor(opts: EventPlace, log: FeedLog) {
    this.#opts = opts;
    this.#log = log;
  }

  /**
   * Calls `listener` with the events from now on, or from after an offset; resolves when none can be missed any more.
   * @param since `3f2a9c01.12345`
   * @returns Ends it.
   * @throws {NoMasterError} If no master is running.
   * @throws {CommandError} If `since` is no offset of today's log.
   */
  async listen(listener: EventListener, since?: string): Promise<() => void> {
    const shared = since === undefined ? this.#shared : undefined;
    if (shared !== undefined && !shared.isOver) return shared.add(listener);
    const source = await openEventSource(this.#opts, since);
    const loop = new FeedLoop(source, { opts: this.#opts, log: this.#log, ended: () => this.#loops.delete(loop) });
    this.#loops.add(loop);
    if (since === undefined) this.#shared = loop;
    const stop = loop.add(listener);
    loop.start();
    return stop;
  }

  /** Ends all. */
  close(): void {
    for (const loop of this.#loops) loop.close();
  }
}

/** What a loop needs besides its source. */
interface LoopParts {
  readonly opts: EventPlace;
  readonly log: FeedLog;
  /** Called when it is over. */
  ended(): void;
}

/** Reads one source for its listeners, until none is left. */
class FeedLoop {
  readonly #parts: LoopParts;
  readonly #listeners = new Set<EventListener>();
  #source: EventSource | undefined;
  #last: string | undefined;
  #closed = false;

  constructor(source: EventSource, parts: LoopParts) {
    this.#source = source;
    this.#parts = parts;
  }

  /** Whether it takes no more listeners. */
  get isOver(): boolean {
    return this.#closed;
  }

  add(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.close();
    };
  }

  start(): void {
    void this.#run();
  }

  close(): void {
    this.#closed = true;
    this.#source?.close();
    this.#source = undefined;
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      try {
        this.#source ??= await this.#reopen();
        const batch = await this.#source.read(LOOK_MS);
        if (batch === undefined) continue;
        this.#last = batch.events.at(-1)?.offset ?? this.#last;
        this.#tell(batch);
      } catch (error) {
        await this.#recover(error);
      }
    }
    this.close();
    this.#parts.ended();
  }

  /** The source again, where it was; if that is not known, listeners hear that events may be lost. */
  async #reopen(): Promise<EventSource> {
    const source = await openEventSource(this.#parts.opts, this.#last);
    if (this.#last === undefined) this.#tell({ events: [], missed: Infinity });
    return source;
  }

  #tell(batch: FedEvents): void {
    for (const listener of this.#listeners) listener(batch);
  }

  async #recover(error: unknown): Promise<void> {
    if (!(error instanceof NoMasterError)) {
      this.#parts.log.error(`The master's events: ${messageOf(error)}`);
      // It may be an offset of a log that is gone: what came since cannot be had.
      this.#last = undefined;
    }
    this.#source?.close();
    this.#source = undefined;
    await sleep(RETRY_MS);
  }
}
