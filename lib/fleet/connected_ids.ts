/**
 * Connected minions by address, as Salt finds them: the peers of the publish port, matched with the addresses in cached
 * grains. Cannot distinguish two minions behind one address.
 * Source: docs/protocol.md "How a client waits"; Salt's `salt/utils/minions.py` (CkMinions.connected_ids).
 * @module
 */

import type { DataCache } from "./data_cache.ts";
import { addressesConnectedHere } from "#lib/procfs/tcp_table.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import type { Value } from "#lib/values/value.ts";

/**
 * The cached minions with a connected address, each with its first connected address.
 * @param ids Those that are looked at. Default: all.
 */
export function connectedAddresses(data: DataCache, publishPort: number, ids?: Iterable<string>): Map<string, string> {
  const peers = addressesConnectedHere(publishPort);
  const addresses = new Map<string, string>();
  if (peers.size === 0) return addresses;
  for (const id of ids ?? data.list()) {
    const address = addressesOf(data, id).find((address) => typeof address === "string" && peers.has(address));
    if (typeof address === "string") addresses.set(id, address);
  }
  return addresses;
}

/** Maximum number of minions that are checked: each is a file to read, only for a log line. */
const LOOKED_AT = 1_000;

/** The minions whose cached grains have `address`; checks at most a thousand. */
export function minionsAt(data: DataCache, address: string): string[] {
  return data.list().slice(0, LOOKED_AT).filter((id) => addressesOf(data, id).includes(address));
}

function addressesOf(data: DataCache, id: string): Value[] {
  const grains = data.get(id)?.grains;
  return ["ipv4", "ipv6"].flatMap((key) => {
    return listOrEmpty(grains?.get(key));
  });
}
