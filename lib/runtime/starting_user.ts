/**
 * The user that the events of a runner name, if a job has started it as a process: not the user of that process.
 * Decides no rights.
 * @module
 */

import { truncate } from "#lib/text/truncate.ts";
import type { Value } from "#lib/values/value.ts";

/** Environment variable with that user. */
const STARTER_VARIABLE = "SALT_STARTED_BY";

/** The environment of a runner's process that a job of `user` starts. */
export function startedBy(user: Value | undefined): Readonly<Record<string, string>> {
  // No variable can have a NUL.
  if (typeof user !== "string" || user === "" || user.includes("\0")) return {};
  return { [STARTER_VARIABLE]: truncate(user) };
}

/** The user of the job that has started this process; without one, `caller`. */
export function startingUser(caller: string): string {
  return Deno.env.get(STARTER_VARIABLE) || caller;
}
