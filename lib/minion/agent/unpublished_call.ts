/**
 * Calls of execution functions by parts of the minion: each runs like a function of a job, with the permissions that it
 * declares, and is no job.
 * @module
 */

import type { JobPool } from "#lib/minion/worker/job_pool.ts";
import { UNPUBLISHED } from "#lib/minion/worker/job_protocol.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { CommandError } from "#lib/errors.ts";
import { map, str, type Value } from "#lib/values/value.ts";

/**
 * Runs a function.
 * @param user Who calls: `beacons`, `reactor`.
 * @param call The arguments, packed: `args`, `kwargs`.
 * @throws {CommandError} If it failed, with its text.
 */
export async function callUnpublished(
  pool: JobPool,
  { user, fun, call }: { readonly user: string; readonly fun: string; readonly call: Uint8Array },
): Promise<Value> {
  const outcome = await pool.call(map({ fun, arg: [], jid: makeJid(), user, [UNPUBLISHED]: true }), call);
  const returned = outcome.get("return") ?? null;
  // Functions such as test.false return a false value without having failed.
  if (outcome.get("success") === false && typeof returned === "string") throw new CommandError(str(returned));
  return returned;
}
