/**
 * A limit on the work of one match. Targets are written by users, and a minion chooses its grains: together they must
 * not keep a thread of the master busy. Counted in steps and not in time, so that a busy machine gives the same answer.
 * @module
 */

/** The work that one term may cost on one minion: a thousand times that of usual grains, 20 to 50 ms of a processor. */
const MAX_STEPS = 2_000_000;

/** A term costs more than {@linkcode MAX_STEPS} on a minion. */
export class TooCostlyError extends Error {
  override name = "TooCostlyError";
}

/** The remaining steps. */
export class Budget {
  #left = MAX_STEPS;

  /**
   * Counts `steps`.
   * @throws {TooCostlyError} If they are more than are left.
   */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooCostlyError(`It takes more than ${MAX_STEPS} steps`);
  }
}
