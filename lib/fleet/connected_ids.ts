/**
 * Connected minions by address, as Salt finds them: the peers of the publish port, matched with the addresses in cached
 * grains. Cannot distinguish two minions behind one address.
 * Source: docs/protocol.md "How a client waits"; Salt's `salt/utils/minions.py` (CkMinions.connected_ids).
 * @module
 */

import { RememberedValue } from "#lib/runtime/remembered_value.ts";
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

/** How long {@linkcode AddressPresence} remembers what it has seen, in milliseconds. */
const REMEMBERED_MS = 5_000;

/** What was seen at one time. */
interface SeenPeers {
  readonly peers: ReadonlySet<string>;
  /** By id. */
  readonly answers: Map<string, boolean>;
}

/** Whether single minions are connected by their addresses, seen at most once in a few seconds. */
export class AddressPresence {
  readonly #data: DataCache;
  readonly #seen: RememberedValue<SeenPeers>;

  /** @param publishPort The port that minions are connected to. */
  constructor(data: DataCache, publishPort: () => number) {
    this.#data = data;
    this.#seen = new RememberedValue<SeenPeers>(
      () => ({ peers: addressesConnectedHere(publishPort()), answers: new Map() }),
      REMEMBERED_MS,
    );
  }

  /** Whether an address of minion `id` is connected. */
  has(id: string): boolean {
    const { peers, answers } = this.#seen.get();
    const answer = answers.get(id) ??
      addressesOf(this.#data, id).some((address) => typeof address === "string" && peers.has(address));
    answers.set(id, answer);
    return answer;
  }
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
