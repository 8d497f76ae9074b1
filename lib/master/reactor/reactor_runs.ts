/**
 * The runs of a master's reactor: one until the master ends; in a cluster one for each time that it holds the lease.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { messageOf } from "#lib/errors.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { LeasedJournal, type ReactorLease } from "./leased_journal.ts";
import { Reactor, type ReactorParts } from "./reactor.ts";

/** Pause before another try to start, in milliseconds. */
const RETRY_MS = 5_000;
/** Interval of looks at the lease, in milliseconds. */
const LOOK_MS = 200;

/** What {@linkcode ReactorRuns} are made of. */
export interface ReactorRunsParts {
  readonly opts: Pick<MasterOpts, "id">;
  /** What the next reactor is started with. */
  reactor(): Omit<ReactorParts, "journal">;
  /** The row that says which master reacts; absent: this one does. */
  readonly lease?: ReactorLease;
  readonly log: Pick<Logger, "error">;
}

/** See the module. Begins at once. */
export class ReactorRuns {
  readonly #parts: ReactorRunsParts;
  readonly #ending = new AbortController();
  readonly #stopping = Promise.withResolvers<void>();
  readonly #running: Promise<void>;
  #reactor: Reactor | undefined;

  constructor(parts: ReactorRunsParts) {
    this.#parts = parts;
    this.#running = this.#run();
  }

  /** A reactor that stops by itself is followed by another one, which goes on where it was. */
  async #run(): Promise<void> {
    const { signal } = this.#ending, { lease } = this.#parts;
    while (!signal.aborted) {
      if (lease?.holds() ?? true) {
        await this.#start(lease);
        const reactor = this.#reactor, stopped = reactor?.stopped.then(() => true as const);
        if (stopped !== undefined) await this.#untilItStops(stopped, lease);
        if (signal.aborted) return; // it is closed with the rest
        await reactor?.close();
        this.#reactor = undefined;
      }
      await pause(signal, lease === undefined ? RETRY_MS : LOOK_MS);
    }
  }

  async #untilItStops(stopped: Promise<true>, lease: ReactorLease | undefined): Promise<void> {
    const { signal } = this.#ending;
    if (lease === undefined) return void await Promise.race([stopped, this.#stopping.promise]);
    while (lease.holds() && !signal.aborted) {
      if (await Promise.race([stopped, pause(signal, LOOK_MS)])) return;
    }
  }

  /** Starts the reactor; tries again if its files or the event log cannot be read. */
  async #start(lease?: ReactorLease): Promise<void> {
    const { opts, log } = this.#parts;
    for (let tries = 1; !this.#ending.signal.aborted && (lease?.holds() ?? true); tries++) {
      try {
        const journal = lease && await LeasedJournal.open(opts.id, lease);
        this.#reactor = await Reactor.start({ ...this.#parts.reactor(), ...journal && { journal } });
        return;
      } catch (error) {
        if (tries === 1) log.error(`The reactor cannot be started, and is tried again: ${messageOf(error)}`);
        await sleep(RETRY_MS, this.#ending.signal).catch(() => {});
      }
    }
  }

  /** What it does, in one line. */
  describe(): string {
    const idle = this.#parts.lease === undefined ? "starting" : "another master of the cluster reacts";
    return this.#reactor?.describe() ?? idle;
  }

  /** Begins to end: no further reactor starts. */
  async stop(): Promise<void> {
    this.#ending.abort();
    this.#stopping.resolve();
    await this.#running;
  }

  /** Ends the reactor. */
  async close(): Promise<void> {
    await this.stop();
    await this.#reactor?.close();
  }
}

function pause(signal: AbortSignal, ms: number): Promise<false> {
  return sleep(ms, signal).then(() => false as const, () => false as const);
}
