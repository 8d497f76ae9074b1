/**
 * What `salt` and `salt-cp` say on standard error and without minions, to the letter; and a master that is soon sure of silence.
 * @module
 */

/** A minion failed or was silent. */
export const FAILED = "ERROR: Minions returned with non-zero exit code\n";
/** Nobody returned. */
export const NOBODY = "ERROR: No return received\n";
/** Nobody was meant. */
export const NO_MATCH = "No minions matched the target. No command was sent, no jid was assigned.\n";

/** Options under which silence is soon certain. */
export const IMPATIENT = { timeout: 2, gather_job_timeout: 1 };
