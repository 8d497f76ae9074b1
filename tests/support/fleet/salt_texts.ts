/**
 * The exact texts of `salt` and `salt-cp` on standard error and without minions; and options of a master that gives up
 * silent minions quickly.
 * @module
 */

/** Minions failed or were silent: `3 (web1), not connected (db1)`. */
export function failedText(which: string): string {
  return `ERROR: Minions returned with non-zero exit code: ${which}\n`;
}
/** No minion returned. */
export const NOBODY = "ERROR: No return received\n";
/** No minion matched. */
export const NO_MATCH = "No minions matched the target. No command was sent, no jid was assigned.\n";

/** Options under which silence is soon certain. */
export const IMPATIENT = { timeout: 2, gather_job_timeout: 1 };
