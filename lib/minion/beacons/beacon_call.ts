/**
 * Calls of execution functions by beacons: each runs like a function of a job, with the permissions that it declares.
 * @module
 */

import type { JobPool } from "#lib/minion/worker/job_pool.ts";
import { UNPUBLISHED } from "#lib/minion/worker/job_protocol.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { CommandError } from "#lib/errors.ts";
import { map, str, type Value } from "#lib/values/value.ts";

/**
 * Runs a function for a beacon.
 * @param call The arguments, packed: `args`, `kwargs`.
 * @throws {CommandError} If it failed, with its text.
 */
export async function callForBeacon(pool: JobPool, fun: string, call: Uint8Array): Promise<Value> {
  const outcome = await pool.call(map({ fun, arg: [], jid: makeJid(), user: "beacons", [UNPUBLISHED]: true }), call);
  const returned = outcome.get("return") ?? null;
  // Functions such as test.false return a false value without having failed.
  if (outcome.get("success") === false && typeof returned === "string") throw new CommandError(str(returned));
  return returned;
}
