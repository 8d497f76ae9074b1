/**
 * The topics of publishes with `zmq_filtering`: a minion subscribes to its own and to that of all.
 * Source: Salt 3008.3 `salt/transport/zeromq.py` publish_payload, `salt/channel/server.py` wrap_payload.
 * @module
 */

import { hashHex } from "#lib/crypto/hash.ts";
import type { Value } from "#lib/values/value.ts";

/**
 * For these types of targets each minion gets the publish by its own topic; for others all minions get it, and match
 * the target with their own data.
 */
const BY_ID: readonly Value[] = ["glob", "pcre", "list"];

/**
 * The topics of a publish; each gets its own message.
 * @param minions The target minions, as far as the master knows.
 * @param orderMasters Whether syndics are below this master, which know other minions. Default: none are.
 */
export function publishTopics(tgtType: Value, minions: readonly string[], orderMasters = false): string[] {
  // Syndics subscribe to both.
  if (!BY_ID.includes(tgtType)) return ["broadcast"];
  if (minions.length === 0) return [orderMasters ? "syndic" : "broadcast"];
  return [...minions.map((id) => hashHex(id, "sha1")), ...orderMasters ? ["syndic"] : []];
}
