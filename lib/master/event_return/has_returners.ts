/**
 * Whether a master has returners of its own.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { PreflightError } from "#lib/errors.ts";

/** @throws {PreflightError} If it has, and keeps no events, which they read. */
export function hasMasterReturners({ event_return, master_return, event_log }: MasterOpts): boolean {
  if (event_return.length === 0 && master_return.length === 0) return false;
  if (event_log === "none") {
    throw new PreflightError("event_return and master_return need the event log: event_log is none");
  }
  return true;
}
