/**
 * Makes the returners that are job caches remove old jobs, at intervals. A round that takes longer than the interval is
 * followed by the next one when it has ended: a database that hangs gets no second question.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { clearInterval, setInterval, type Timer } from "#lib/os/timers.ts";
import type { Logger } from "#lib/runtime/log.ts";

/** The parts of a {@linkcode JobCleaning}. */
export interface JobCleaningParts {
  /** The returners. */
  readonly names: readonly string[];
  /** The interval, in milliseconds. */
  readonly everyMs: number;
  readonly log: Pick<Logger, "error">;
  /**
   * Makes one remove its old jobs.
   * @throws What the returner throws.
   */
  clean(name: string): Promise<void>;
}

/** The rounds of one master. */
export class JobCleaning {
  readonly #parts: JobCleaningParts;
  readonly #timer: Timer;
  #isAtIt = false;

  /** The first round comes after one interval. */
  constructor(parts: JobCleaningParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => void this.#round(), parts.everyMs);
  }

  /** A returner that fails is named, and asked again in the next round. Never rejects. */
  async #round(): Promise<void> {
    if (this.#isAtIt) return;
    this.#isAtIt = true;
    const { names, clean, log } = this.#parts;
    for (const name of names) {
      try {
        await clean(name);
      } catch (error) {
        log.error(`The returner ${name} could not remove old jobs: ${messageOf(error)}`);
      }
    }
    this.#isAtIt = false;
  }

  /** Begins no further round. */
  close(): void {
    clearInterval(this.#timer);
  }
}
