/**
 * Work that is done in steps, for tests that have nothing else to do meanwhile.
 * @module
 */

/** Takes every step. @returns What comes of it. */
export function finish<T>(steps: Generator<void, T>): T {
  for (let step = steps.next();; step = steps.next()) if (step.done) return step.value;
}
