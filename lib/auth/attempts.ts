/**
 * Attempts to sign in with a password: few at once, and a failure takes as long as the longest one so far, more or less, so
 * that guessing is slow and its time tells nothing.
 * Source: Salt 3008.3 `salt/auth/__init__.py` (`time_auth`).
 * @module
 */

import { sleep } from "../os/sleep.ts";

/** How long a failure takes at least, more or less, in milliseconds. */
const FAILURE_MS = 1_000;
/** Most attempts at once, those included that are being slowed down: fewer than the requests that a thread can hold. */
export const MOST_ATTEMPTS = 8;
/** Most of them that are with their system: it may be a process for each. */
const MOST_ASKED = 4;

/** What an attempt may wait with; default: the clock. */
export interface AttemptClock {
  now(): number;
  sleep(ms: number): Promise<void>;
  /** A number of at least 0 and less than 1. */
  random(): number;
}

const CLOCK: AttemptClock = {
  now: () => performance.now(),
  sleep,
  random: () => crypto.getRandomValues(new Uint32Array(1))[0] / 2 ** 32,
};

/** The attempts of one thread. */
export class Attempts {
  readonly #clock: AttemptClock;
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #asked = 0;
  #longestMs = FAILURE_MS;

  /** @param clock For tests. */
  constructor(clock: AttemptClock = CLOCK) {
    this.#clock = clock;
  }

  /** Whether there is no room for another one. */
  get full(): boolean {
    return this.#running >= MOST_ATTEMPTS;
  }

  /** Makes an attempt. @returns What `ask` gave; `undefined`, late, if that is `undefined` or `ask` throws. */
  async make<T>(ask: () => Promise<T | undefined>): Promise<T | undefined> {
    this.#running++;
    const { now, sleep, random } = this.#clock;
    const started = now();
    try {
      await this.#turn();
      let given: T | undefined;
      try {
        given = await ask();
      } finally {
        this.#asked--;
        this.#waiting.shift()?.();
        if (given === undefined) {
          const tookMs = now() - started;
          this.#longestMs = Math.max(this.#longestMs, tookMs);
          await sleep(Math.max(0, this.#longestMs * (0.75 + random() / 2) - tookMs));
        }
      }
      return given;
    } finally {
      this.#running--;
    }
  }

  async #turn(): Promise<void> {
    while (this.#asked >= MOST_ASKED) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#asked++;
  }
}
