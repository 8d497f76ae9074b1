/**
 * Attempts to sign in with a password: a failure takes about as long as the longest check so far, so that guessing is
 * slow and the time of a failure reveals nothing. Few are checked at once; the others wait, and each connection has one
 * turn after the other, so that nobody's guesses keep another's password out. A failure that is being delayed holds no
 * place. Source: Salt 3008.3 `salt/auth/__init__.py` (`time_auth`).
 * @module
 */

import { sleep } from "#lib/os/sleep.ts";

/** Approximate minimum time of a failure, in milliseconds. */
const FAILURE_MS = 1_000;
/** Maximum number of attempts that are being checked: each may need a process. */
const MAX_CHECKING = 4;
/** Maximum number of attempts that wait for their turn: fewer than the requests that a thread can hold. */
export const MAX_WAITING = 128;

/** Maximum number of refusals that are delayed at the same time; others are answered at once. */
const MAX_DELAYED = 4_096;

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

/** The request that an attempt comes with. */
export interface AttemptRequest {
  /** The connection that it came over: each has its turns, one attempt after the other. */
  readonly connection: string;
  /** Called once, when its answer is known and only delayed. */
  release(): void;
}

/** Too many others wait for their turn. */
export class TooManyAttemptsError extends Error {}

/** An attempt that waits for its turn; called with whether it has it. */
type Turn = (granted: boolean) => void;

/** The attempts of one thread. */
export class Attempts {
  readonly #clock: AttemptClock;
  /** The attempts that wait, by connection; the connection whose turn is next comes first. */
  readonly #waiting = new Map<string, Turn[]>();
  /** The connections with an attempt that is checked or delayed. */
  readonly #busy = new Set<string>();
  #waitingCount = 0;
  #checking = 0;
  /** Number of refusals that are being delayed. */
  #delayed = 0;
  #longestMs = FAILURE_MS;

  /** @param clock For tests. */
  constructor(clock: AttemptClock = CLOCK) {
    this.#clock = clock;
  }

  /**
   * Makes an attempt.
   * @returns The result of `ask`; `undefined`, after a delay, if that is `undefined` or `ask` throws.
   * @throws {TooManyAttemptsError} If too many wait.
   * @throws What `ask` throws, after the delay.
   */
  async make<T>(ask: () => Promise<T | undefined>, { connection, release }: AttemptRequest): Promise<T | undefined> {
    const { now, sleep } = this.#clock;
    if (!await this.#turn(connection)) {
      release();
      await this.#delayRefusal();
      throw new TooManyAttemptsError("Too many attempts to sign in at the same time. Try again.");
    }
    const started = now();
    let result: T | undefined;
    try {
      result = await ask();
      return result;
    } finally {
      this.#checking--;
      if (result === undefined) {
        release();
        this.#grant();
        const tookMs = now() - started;
        this.#longestMs = Math.max(this.#longestMs, tookMs);
        await sleep(Math.max(0, this.#failureMs() - tookMs));
      }
      this.#busy.delete(connection);
      this.#grant();
    }
  }

  /** How long a failure is to take: its time must not tell the reason. */
  #failureMs(): number {
    return this.#longestMs * (0.75 + this.#clock.random() / 2);
  }

  /** As long as a failure, so that those who are refused do not fill the places again at once. */
  async #delayRefusal(): Promise<void> {
    if (this.#delayed >= MAX_DELAYED) return;
    this.#delayed++;
    await this.#clock.sleep(this.#failureMs());
    this.#delayed--;
  }

  /**
   * Waits for the turn.
   * @returns False if too many wait.
   */
  async #turn(connection: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const own = this.#waiting.get(connection) ?? [];
    this.#waiting.set(connection, own);
    own.push(resolve);
    this.#waitingCount++;
    this.#grant();
    if (this.#waitingCount > MAX_WAITING) this.#refuseOne();
    return await promise;
  }

  /** Starts what may start. */
  #grant(): void {
    for (const [connection, turns] of this.#waiting) {
      if (this.#checking >= MAX_CHECKING) return;
      if (this.#busy.has(connection)) continue;
      const turn = turns.shift();
      this.#waitingCount--;
      // Its next attempt waits until all others have had a turn.
      this.#waiting.delete(connection);
      if (turns.length > 0) this.#waiting.set(connection, turns);
      this.#checking++;
      this.#busy.add(connection);
      turn?.(true);
    }
  }

  /** Refuses the newest attempt of the connection that has most. */
  #refuseOne(): void {
    let most: [string, Turn[]] | undefined;
    for (const entry of this.#waiting) if (entry[1].length >= (most?.[1].length ?? 1)) most = entry;
    if (most === undefined) return;
    const [connection, turns] = most;
    const turn = turns.pop();
    if (turns.length === 0) this.#waiting.delete(connection);
    this.#waitingCount--;
    turn?.(false);
  }
}
