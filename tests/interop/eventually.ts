/**
 * Waiting for a condition, never for a time: what never came is named in the failure.
 * @module
 */

/** Looks again this often, in milliseconds. */
const LOOK_MS = 100;

/** How long to wait for what. */
export interface Patience {
  /** In milliseconds. */
  readonly withinMs: number;
  /** Completes "waited … ms for". */
  readonly what: string;
}

/**
 * Asks until the answer is neither `undefined` nor `false`, and gives it. An error counts as "not yet"; the last one is
 * the cause of the failure.
 * @throws {Error} If that never happens.
 */
export async function eventually<T>(
  ask: () => T | Promise<T>,
  patience: Patience,
): Promise<Exclude<T, undefined | false>> {
  const deadline = performance.now() + patience.withinMs;
  let cause: unknown;
  do {
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== false) return answer as Exclude<T, undefined | false>;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  } while (performance.now() < deadline);
  const last = cause instanceof Error ? `; at last: ${cause.message}` : "";
  throw new Error(`waited ${patience.withinMs} ms for ${patience.what}${last}`, { cause });
}
