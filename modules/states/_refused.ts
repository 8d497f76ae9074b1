/**
 * An error that ends a state early; it carries the state's result.
 * @module
 */

import type { StateResult } from "#lib/plugins/state_module.ts";

/** Ends a state. */
export class Refused extends Error {
  override name = "Refused";
  /**
   * @param comment The result's comment.
   * @param more Other fields of the result: `result` from False, `changes`, ….
   */
  constructor(comment: string | string[], readonly more: Partial<StateResult> = {}) {
    super(Array.isArray(comment) ? comment.join("\n") : comment);
  }
}

/** The return of `run`, or `start` with the values of {@linkcode Refused}. */
export async function orRefused(start: StateResult, run: () => Promise<StateResult>): Promise<StateResult> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { ...start, result: false, comment: error.message, ...error.more };
  }
}
