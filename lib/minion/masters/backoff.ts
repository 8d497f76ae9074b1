/**
 * Random waits before each try to reach a lost master, so that the minions of a fleet, which all lost it at the same
 * moment, do not reconnect at the same moment. Each wait is random up to a window, which doubles with each try up to
 * `mostMs`: a fleet is back about as fast as the master was, spread over about the time that it was away. Only computes
 * waits.
 * Source: "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015), where this is "full jitter".
 * @module
 */

/** Minimum time between two attempts to connect, in milliseconds. */
const CONNECT_MS = 50;

/** The waits, in milliseconds. */
export interface Backoff {
  /** The wait before try `attempt`, from 0. */
  pause(attempt: number): number;
  /** A time between two attempts to connect within one long try `attempt`: about half of its longest wait. */
  reconnect(attempt: number): number;
}

/** Options of {@linkcode backoff}. */
export interface BackoffOptions {
  /** The first window. */
  readonly leastMs: number;
  /** The largest window. */
  readonly mostMs: number;
  /** Whether waits are random; otherwise each wait is its whole window. */
  readonly randomize: boolean;
  /** A random number, at least 0 and less than 1. Default: `Math.random`. */
  random?(): number;
}

/** Makes waits within a window that doubles. */
export function backoff({ leastMs, mostMs, randomize, random = Math.random }: BackoffOptions): Backoff {
  const window = (attempt: number) => Math.max(leastMs, Math.min(mostMs, leastMs * 2 ** attempt));
  const chance = () => randomize ? random() : 1;
  return {
    pause: (attempt) => Math.round(window(attempt) * chance()),
    reconnect: (attempt) => Math.max(CONNECT_MS, Math.round(window(attempt) * (1 + chance()) / 4)),
  };
}
