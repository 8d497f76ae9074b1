/**
 * A state that stops deep inside with what it has to say, which becomes its result.
 * @module
 */

import type { StateResult } from "../../lib/plugins/state_module.ts";

/** Ends a state. */
export class Refused extends Error {
  override name = "Refused";
  /** @param comment The result's comment. @param more What else of the result differs: `result` from False, `changes`, …. */
  constructor(comment: string | string[], readonly more: Partial<StateResult> = {}) {
    super(Array.isArray(comment) ? comment.join("\n") : comment);
  }
}

/** What `run` returns, or `start` with what {@linkcode Refused} says. */
export async function orRefused(start: StateResult, run: () => Promise<StateResult>): Promise<StateResult> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { ...start, result: false, comment: error.message, ...error.more };
  }
}
