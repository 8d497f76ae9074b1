/**
 * The file in a bus's socket directory that lists its subscribers, for commands on this host.
 * @module
 */

import { readState, writeState } from "#lib/runtime/state_file.ts";
import type { Subscriber } from "./subscribers.ts";
import type { BusPaths } from "./paths.ts";
import { map, type Value } from "#lib/values/value.ts";

/** The path of the file. */
export function busStatePath({ pub }: BusPaths): string {
  return pub.replace(/_pub\.ipc$/, "_subscribers.json");
}

/**
 * Writes the list of subscribers.
 * @throws What writing throws.
 */
export function writeBusState(paths: BusPaths, subscribers: readonly Subscriber[]): void {
  const rows = subscribers.map(({ name: { pid, prefixes }, dropped, stuck }) =>
    map({ pid, tags: [...prefixes], dropped, reads: !stuck })
  );
  writeState(busStatePath(paths), rows);
}

/** The list of subscribers; empty if there is no file. */
export function readBusState(paths: BusPaths): Value {
  return readState(busStatePath(paths));
}
