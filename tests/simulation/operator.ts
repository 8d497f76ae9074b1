/**
 * The operator of a simulated fleet: publishes jobs, and notes those that the master confirms.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { RequestTimeoutError } from "#lib/errors.ts";
import { RequestChannel } from "#lib/sockets/request_channel.ts";
import { decode } from "#lib/values/msgpack.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, str } from "#lib/values/value.ts";
import { publishRequest } from "#tests/support/fleet/publishes.ts";
import type { Ledger } from "./ledger.ts";
import { REQUESTS } from "./master.ts";

/** How long the operator waits for the master, in milliseconds. */
const WAIT_MS = 5_000;

/** Publishes one job; a master that does not answer, or refuses, has promised nothing. */
export async function publishJob(opts: MasterOpts, tgt: string, ledger: Ledger): Promise<void> {
  let frame: Uint8Array;
  try {
    frame = publishRequest(opts, { tgt, fun: "test.ping" });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return; // the master is about to start
    throw error;
  }
  using channel = new RequestChannel(REQUESTS);
  try {
    const answer = decode(await channel.request(frame, { timeoutMs: WAIT_MS, tries: 1 }), "wire");
    const load = mapOrEmpty(isMap(answer) ? answer.get("load") : undefined);
    const minions = load.get("minions");
    if (typeof load.get("jid") === "string" && Array.isArray(minions)) {
      ledger.confirm(str(load.get("jid") ?? ""), minions.map(str));
    }
  } catch (error) {
    if (!(error instanceof RequestTimeoutError)) throw error;
  }
}
