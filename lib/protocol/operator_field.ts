/**
 * The fields of loads and returns that are about operators' signatures and the chain of a minion's jobs.
 * @module
 */

/** Of a load, and of the `kwargs` of a publish: an operator's signature, `{alg, key, body, sig}`, texts. */
export const OP = "op";
/** Of a return: True if the minion did not run the job, because of its signature. */
export const REFUSED_JOB = "refused";
/** Of a return: the number and the digest of its record in the minion's chain, `[n, hash]`. */
export const CHAIN = "chain";
