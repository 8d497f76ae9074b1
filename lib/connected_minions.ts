/**
 * Which minions are connected, as Salt finds out: the addresses at the other end of the publish port, and the minions
 * whose cached grains have them. Two minions behind one address cannot be told apart.
 * Source: salt-protocol.md section 9, "connected_ids".
 * @module
 */

import type { DataCache } from "./data_cache.ts";
import { addressesConnectedHere } from "./tcp_table.ts";

/** The cached minions that have one of the connected addresses, each with the first such one of its. */
export function connectedAddresses(data: DataCache, publishPort: number): Map<string, string> {
  const peers = addressesConnectedHere(publishPort);
  const found = new Map<string, string>();
  if (peers.size === 0) return found;
  for (const id of data.list()) {
    const grains = data.get(id)?.grains;
    const own = ["ipv4", "ipv6"].flatMap((key) => {
      const listed = grains?.get(key);
      return Array.isArray(listed) ? listed : [];
    });
    const address = own.find((address) => typeof address === "string" && peers.has(address));
    if (typeof address === "string") found.set(id, address);
  }
  return found;
}
