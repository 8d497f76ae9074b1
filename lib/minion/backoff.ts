/**
 * How long to wait before each try to reach a master whose connection was lost: by chance, so that the minions of a fleet, which
 * have all lost it in the same moment, do not come back in another one.
 *
 * The wait is anything up to a window that doubles with each try: a fleet is back about as fast as the master was, and spread
 * over about the time that it was away, up to `mostMs`. A rule: it neither waits nor tries.
 * Source: "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015), where this is "full jitter".
 * @module
 */

/** The least time between two attempts to connect, in milliseconds. */
const CONNECT_MS = 50;

/** The waits. Times in milliseconds. */
export interface Backoff {
  /** The wait before try `attempt`, of which the first is 0. */
  pause(attempt: number): number;
  /**
   * A time for try `attempt` between two attempts to connect, within a try that lasts longer than one: about half of the
   * longest pause.
   */
  reconnect(attempt: number): number;
}

/** What a {@linkcode backoff} goes by. */
export interface BackoffOptions {
  /** The first window. */
  readonly leastMs: number;
  /** The largest one. */
  readonly mostMs: number;
  /** Whether chance decides; otherwise each wait is its whole window. */
  readonly randomize: boolean;
  /** At least 0, less than 1. Default: `Math.random`. */
  random?(): number;
}

/** Waits within a window that doubles. */
export function backoff({ leastMs, mostMs, randomize, random = Math.random }: BackoffOptions): Backoff {
  const window = (attempt: number) => Math.max(leastMs, Math.min(mostMs, leastMs * 2 ** attempt));
  const chance = () => randomize ? random() : 1;
  return {
    pause: (attempt) => Math.round(window(attempt) * chance()),
    reconnect: (attempt) => Math.max(CONNECT_MS, Math.round(window(attempt) * (1 + chance()) / 4)),
  };
}
