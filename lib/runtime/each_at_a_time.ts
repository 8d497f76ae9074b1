/**
 * Work on many items of which some are done at a time.
 * @module
 */

/** Calls `act` with each item, at most `max` at a time, in their order. Rejects with the first error. */
export async function eachAtATime<T>(
  items: readonly T[],
  max: number,
  act: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await act(item);
  };
  await Promise.all(Array.from({ length: Math.min(max, items.length) }, worker));
}
