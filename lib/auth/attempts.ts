/**
 * Attempts to sign in with a password: few at once, and a failure takes about as long as the longest one so far, so
 * that guessing is slow and the time of a failure reveals nothing. Source: Salt 3008.3 `salt/auth/__init__.py`
 * (`time_auth`).
 * @module
 */

import { sleep } from "../os/sleep.ts";

/** Approximate minimum time of a failure, in milliseconds. */
const FAILURE_MS = 1_000;
/**
 * Maximum number of attempts at once, including those that are delayed: fewer than the requests that a thread can hold.
 */
export const MAX_ATTEMPTS = 8;
/** Maximum number of attempts that are being checked: each may need a process. */
const MAX_CHECKING = 4;

/** The clock for delays. */
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
  #checking = 0;
  #longestMs = FAILURE_MS;

  /** @param clock For tests. */
  constructor(clock: AttemptClock = CLOCK) {
    this.#clock = clock;
  }

  /** Whether there is no room for another one. */
  get full(): boolean {
    return this.#running >= MAX_ATTEMPTS;
  }

  /**
   * Makes an attempt. @returns The result of `ask`; `undefined`, after a delay, if that is `undefined` or `ask` throws.
   */
  async make<T>(ask: () => Promise<T | undefined>): Promise<T | undefined> {
    this.#running++;
    const { now, sleep, random } = this.#clock;
    const started = now();
    try {
      await this.#turn();
      let result: T | undefined;
      try {
        result = await ask();
      } finally {
        this.#checking--;
        this.#waiting.shift()?.();
        if (result === undefined) {
          const tookMs = now() - started;
          this.#longestMs = Math.max(this.#longestMs, tookMs);
          await sleep(Math.max(0, this.#longestMs * (0.75 + random() / 2) - tookMs));
        }
      }
      return result;
    } finally {
      this.#running--;
    }
  }

  async #turn(): Promise<void> {
    while (this.#checking >= MAX_CHECKING) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#checking++;
  }
}
