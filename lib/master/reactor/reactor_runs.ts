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
  readonly #running: Promise<void>;
  #reactor: Reactor | undefined;

  constructor(parts: ReactorRunsParts) {
    this.#parts = parts;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending, { lease } = this.#parts;
    if (lease === undefined) return await this.#start();
    while (!signal.aborted) {
      if (lease.holds()) {
        await this.#start(lease);
        const reactor = this.#reactor, stopped = reactor?.stopped.then(() => true);
        while (reactor !== undefined && lease.holds() && !signal.aborted) {
          if (await Promise.race([stopped, pause(signal)])) break;
        }
        if (signal.aborted) return; // it is closed with the rest
        await reactor?.close();
        this.#reactor = undefined;
      }
      await pause(signal);
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
    await this.#running;
  }

  /** Ends the reactor. */
  async close(): Promise<void> {
    await this.stop();
    await this.#reactor?.close();
  }
}

function pause(signal: AbortSignal): Promise<false> {
  return sleep(LOOK_MS, signal).then(() => false as const, () => false as const);
}
