/**
 * What a minion notes in the load of a job that it has accepted: whether it gave the job to itself, at its start or by
 * its schedule, and which of its masters gave it.
 * Source: Salt 3008.3 `salt/minion.py` _state_run; `salt/utils/schedule.py` handle_func.
 * @module
 */

/** The field of the load of such a job. Its id is used on this host only. */
export const OWN_JOB = "__own_job__";

/** The id that a return of such a job has: the master makes one. */
export const NO_JID = "req";

/** The id of a return that the master publishes and does not store. */
export const NOCACHE_JID = "nocache";

/** A map in the load of a scheduled job: what its return has besides the outcome. */
export const SCHEDULED = "__schedule__";

/** The field of the load of a job that one of several masters has given: its `host:port`. */
export const FROM_MASTER = "__from_master__";
