/**
 * What `salt` and `salt-cp` say on standard error and without minions, to the letter; and a master that is soon sure of silence.
 * @module
 */

/** Minions failed or were silent: `3 (web1), not connected (db1)`. */
export function failedText(which: string): string {
  return `ERROR: Minions returned with non-zero exit code: ${which}\n`;
}
/** Nobody returned. */
export const NOBODY = "ERROR: No return received\n";
/** Nobody was meant. */
export const NO_MATCH = "No minions matched the target. No command was sent, no jid was assigned.\n";

/** Options under which silence is soon certain. */
export const IMPATIENT = { timeout: 2, gather_job_timeout: 1 };
