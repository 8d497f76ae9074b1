/**
 * Waiting for a condition, never for a time.
 * @module
 */

/** How long to wait, and for what. */
export interface Waiting {
  /** Milliseconds until the wait has failed. */
  readonly withinMs: number;
  /** Completes "… did not come in 5000 ms": says what never came. */
  readonly what: string;
  /** Milliseconds between two looks. Default: 20. */
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
  const deadline = performance.now() + waiting.withinMs;
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
      throw new Error(`${waiting.what} did not come in ${waiting.withinMs} ms${reason}`, { cause });
    }
    await new Promise((resolve) => setTimeout(resolve, waiting.everyMs ?? 20));
  }
}
