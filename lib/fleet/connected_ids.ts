/**
 * Which minions are connected, as Salt finds out: the addresses at the other end of the publish port, and the minions
 * whose cached grains have them. Two minions behind one address cannot be told apart.
 * Source: salt-protocol.md section 9, "connected_ids".
 * @module
 */

import type { DataCache } from "./data_cache.ts";
import { addressesConnectedHere } from "../host/tcp_table.ts";
import type { Value } from "../values/value.ts";

/** The cached minions that have one of the connected addresses, each with the first such one of its. */
export function connectedAddresses(data: DataCache, publishPort: number): Map<string, string> {
  const peers = addressesConnectedHere(publishPort);
  const found = new Map<string, string>();
  if (peers.size === 0) return found;
  for (const id of data.list()) {
    const address = addressesOf(data, id).find((address) => typeof address === "string" && peers.has(address));
    if (typeof address === "string") found.set(id, address);
  }
  return found;
}

/** Whom of so many minions is looked at an address: a file each, and the log is not worth more. */
const LOOKED_AT = 1_000;

/** The minions whose cached grains have an address, of a thousand at most. */
export function minionsAt(data: DataCache, address: string): string[] {
  return data.list().slice(0, LOOKED_AT).filter((id) => addressesOf(data, id).includes(address));
}

function addressesOf(data: DataCache, id: string): Value[] {
  const grains = data.get(id)?.grains;
  return ["ipv4", "ipv6"].flatMap((key) => {
    const listed = grains?.get(key);
    return Array.isArray(listed) ? listed : [];
  });
}
