/**
 * The return codes of state functions.
 * Source: Salt 3008.3, `salt/defaults/exitcodes.py`.
 * @module
 */

import type { JobContext } from "#lib/plugins/job_context.ts";

/** Return codes of state functions. */
export const RETCODE = {
  /** All states succeeded, or would succeed. */
  ok: 0,
  /** The states could not be compiled, or may not run now: the return is a list of texts. */
  compile: 1,
  /** A state failed, or there are none. */
  failure: 2,
  /** The pillar could not be compiled. */
  pillar: 5,
} as const;

/** Returns the reasons why states are not run, with the return code for them. */
export function refuseTexts(texts: string[], context: JobContext): string[] {
  context.setRetcode(RETCODE.compile);
  return texts;
}
