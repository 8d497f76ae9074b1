/**
 * Waits for parts of the master that start; what keeps one from it ends the master's start in one sentence.
 * @module
 */

import { messageOf, PreflightError } from "#lib/errors.ts";

/**
 * Waits until an address is bound.
 * @throws {PreflightError} If that fails.
 */
export async function listening<T>(what: string, start: Promise<T>): Promise<T> {
  try {
    return await start;
  } catch (error) {
    throw new PreflightError(`Cannot listen on ${what}: ${messageOf(error)}`);
  }
}

/**
 * Waits until a thread runs.
 * @throws {PreflightError} With what it says, if it cannot.
 */
export async function running(thread: { readonly ready: Promise<void> }): Promise<void> {
  try {
    await thread.ready;
  } catch (error) {
    throw new PreflightError(messageOf(error));
  }
}
