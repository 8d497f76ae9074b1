/**
 * Connected minions by address, as Salt finds them: the peers of the publish port, matched with the addresses in cached
 * grains. Cannot distinguish two minions behind one address.
 * Source: docs/protocol.md "How a client waits"; Salt's `salt/utils/minions.py` (CkMinions.connected_ids).
 * @module
 */

import { MsgpackError } from "#lib/errors.ts";
import { RememberedValue } from "#lib/runtime/remembered_value.ts";
import type { DataCache } from "./data_cache.ts";
import { addressesConnectedHere } from "#lib/procfs/tcp_table.ts";
import { EntryReader } from "#lib/values/msgpack_entry.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { compareStrings, type Value } from "#lib/values/value.ts";

/** The grains that have a minion's addresses. */
const ADDRESSES = ["ipv4", "ipv6"] as const;
/** So many minions are looked up in their own files: to read the grains of all others takes longer. */
const FEW = 100;

/**
 * The cached minions with a connected address, sorted, each with its first connected address.
 * @param ids Those that are looked at. Default: all.
 */
export function connectedAddresses(data: DataCache, publishPort: number, ids?: Iterable<string>): Map<string, string> {
  const peers = addressesConnectedHere(publishPort);
  if (peers.size === 0) return new Map();
  const wanted = ids && new Set(ids);
  const found = wanted !== undefined && wanted.size <= FEW
    ? [...wanted].map((id) => [id, firstOf(addressesOf(data, id), peers)] as const)
    : [...scannedAddresses(data, peers)].filter(([id]) => wanted?.has(id) ?? true);
  const addresses = found.flatMap(([id, address]) => address === undefined ? [] : [[id, address] as const]);
  return new Map(addresses.sort(([one], [other]) => compareStrings(one, other)));
}

/** The first connected address of each minion: ten thousand single files would take seconds. */
function scannedAddresses(data: DataCache, peers: ReadonlySet<string>): Map<string, string | undefined> {
  const entries = new EntryReader();
  let addresses = new Map<string, string | undefined>();
  data.scan("grains", () => {
    const seen = addresses = new Map();
    return (id, bytes) => {
      if (bytes === undefined) return void seen.delete(id);
      entries.open(bytes);
      seen.set(id, firstOf(readable(entries), peers));
    };
  });
  return addresses;
}

/** The first of a minion's addresses that is connected. */
function firstOf(addresses: readonly Value[], peers: ReadonlySet<string>): string | undefined {
  return addresses.find((address): address is string => typeof address === "string" && peers.has(address));
}

/** The addresses in grains that can be read. */
function readable(entries: EntryReader): Value[] {
  try {
    return ADDRESSES.flatMap((key) => listOrEmpty(entries.get(key)));
  } catch (error) {
    if (error instanceof MsgpackError) return [];
    throw error;
  }
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
    const answer = answers.get(id) ?? firstOf(addressesOf(this.#data, id), peers) !== undefined;
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
  return ADDRESSES.flatMap((key) => listOrEmpty(grains?.get(key)));
}
