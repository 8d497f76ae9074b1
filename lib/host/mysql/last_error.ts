/**
 * The last error of MySQL in a job: the functions of `mysql` return False for it, and the states tell it.
 * Source: Salt 3008.3 `salt/modules/mysql.py` (`__context__["mysql.error"]`).
 * @module
 */

import type { JobContext } from "#lib/plugins/job_context.ts";

/** By the signal that each job has of its own. */
const ERRORS = new WeakMap<AbortSignal, string>();

/** Keeps an error for the states of the job, and logs it. */
export function keepMysqlError(context: JobContext, text: string): void {
  ERRORS.set(context.signal, text);
  context.log("error", text);
}

/** The last error of the job, which is forgotten then. */
export function takeMysqlError({ signal }: JobContext): string | undefined {
  const text = ERRORS.get(signal);
  ERRORS.delete(signal);
  return text;
}
