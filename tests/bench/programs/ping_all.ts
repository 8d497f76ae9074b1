/**
 * Runs one job until all minions have returned. It has its own file, because sixteen operators load it.
 * @module
 */

import type { CollectTimeouts } from "#lib/client/job.ts";
import type { LocalClient } from "#lib/client/local.ts";

/**
 * Runs `test.ping` on the minions of a glob.
 * @throws {Error} If one of them does not return.
 */
export async function pingAll(client: LocalClient, tgt: string, timeouts: CollectTimeouts): Promise<void> {
  const job = await client.publish({ tgt, tgtType: "glob", fun: "test.ping", arg: [] });
  for await (const answer of client.collect(job, timeouts)) {
    if (answer.kind !== "returned") throw new Error(`${answer.id} did not return`);
  }
}
