/**
 * Execution module `schedule`: the jobs that a minion runs at their times.
 * Source: Salt 3008.3 `salt/modules/schedule.py`.
 * @module
 */

export * from "./changes.ts";
export * from "./listing.ts";
export * from "./moments.ts";
export * from "./other_minions.ts";
