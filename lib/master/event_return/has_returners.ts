/**
 * Whether a master has returners of its own.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { PreflightError } from "#lib/errors.ts";
import { EVENT_OPTIONS, masterReturners } from "#lib/returners/master_returners.ts";

/** @throws {PreflightError} If it has, and keeps no events, which they read. */
export function hasMasterReturners(opts: MasterOpts): boolean {
  const asked = EVENT_OPTIONS.filter((option) => masterReturners(option, opts).names.length > 0);
  if (asked.length > 0 && opts.event_log === "none") {
    throw new PreflightError(
      `${asked.join(" and ")} ${asked.length > 1 ? "need" : "needs"} the event log: event_log is none`,
    );
  }
  return asked.length > 0;
}
