/**
 * The topics of publishes with `zmq_filtering`: a minion subscribes to its own and to that of all.
 * Source: Salt 3008.3 `salt/transport/zeromq.py` publish_payload, `salt/channel/server.py` wrap_payload.
 * @module
 */

import { hashHex } from "../crypto/hash.ts";
import type { Value } from "../values/value.ts";

/** Those types of targets go to each minion by its own topic; others go to all, which match them with their own data. */
const BY_ID: readonly Value[] = ["glob", "pcre", "list"];

/** The topics that a publish has a message each for. @param minions For whom it is, as far as the master knows. */
export function publishTopics(tgtType: Value, minions: readonly string[]): string[] {
  if (minions.length === 0 || !BY_ID.includes(tgtType)) return ["broadcast"];
  return minions.map((id) => hashHex(id, "sha1"));
}
