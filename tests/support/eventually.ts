/**
 * Waiting for a condition, never for a time.
 * @module
 */

/** Far above the time of any condition here, also on a machine that stops for seconds. */
export const WITHIN_MS = 60_000;

/** What to wait for, and how long. */
export interface Waiting {
  /** Completes "… did not come in 60000 ms". */
  readonly what: string;
  /** Milliseconds until the wait fails, if the test promises a time or needs longer. Default: a minute. */
  readonly withinMs?: number;
  /** Milliseconds between two checks. Default: 20. */
  readonly everyMs?: number;
}

/**
 * Waits until `condition` gives something that is neither false, null nor undefined, and gives that.
 * @throws {Error} If that does not come in time; its cause is the last error that the condition threw.
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
