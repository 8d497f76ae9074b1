/**
 * Runs a generator to its end, for work that is done in steps.
 * @module
 */

/**
 * Takes every step.
 * @returns The generator's return value.
 */
export function finish<T>(steps: Generator<void, T>): T {
  for (let step = steps.next();; step = steps.next()) if (step.done) return step.value;
}
