/**
 * Waits for a condition instead of a fixed time.
 * @module
 */

/** Far above the time that any condition of the tests needs, also on a machine that stalls for seconds. */
export const WITHIN_MS = 60_000;

/** The condition's name and the time limit. */
export interface Waiting {
  /** Completes "… did not come in 60000 ms". */
  readonly what: string;
  /** Milliseconds until the wait fails, for a test that promises a time or needs more time. Default: a minute. */
  readonly withinMs?: number;
  /** Milliseconds between two checks. Default: 20. */
  readonly everyMs?: number;
}

/**
 * Waits until `condition` returns a value that is neither false, null nor undefined, and returns it.
 * @throws {Error} If the time is over; its cause is the last error that the condition threw.
 */
export async function eventually<T>(
  condition: () => T | Promise<T>,
  waiting: Waiting,
): Promise<Exclude<T, false | null | undefined>> {
  const withinMs = waiting.withinMs ?? WITHIN_MS;
  const deadline = performance.now() + withinMs;
  let cause: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value !== false && value !== null && value !== undefined) {
        return value as Exclude<T, false | null | undefined>;
      }
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (performance.now() >= deadline) {
      const reason = cause instanceof Error ? `: ${cause.message}` : "";
      throw new Error(`${waiting.what} did not come in ${withinMs} ms${reason}`, { cause });
    }
    await new Promise((resolve) => setTimeout(resolve, waiting.everyMs ?? 20));
  }
}
