/**
 * The exact texts that `salt` and `salt-cp` write to standard error or without minions; and master options with short
 * timeouts for silent minions.
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

/** Options with short timeouts for silent minions. */
export const IMPATIENT = { timeout: 2, gather_job_timeout: 1 };
