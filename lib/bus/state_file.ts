/**
 * The file in a bus's socket directory that lists its subscribers, for commands on this host.
 * @module
 */

import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import type { Subscriber } from "./subscribers.ts";
import type { BusPaths } from "./paths.ts";
import { dumpJson } from "#lib/values/json.ts";
import { map, toValue, type Value } from "#lib/values/value.ts";

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
  writeFileAtomic(busStatePath(paths), dumpJson(rows), { mode: 0o600 });
}

/** The list of subscribers; empty if there is no file. */
export function readBusState(paths: BusPaths): Value {
  const text = readTextFileIfExists(busStatePath(paths));
  return text === undefined || text === "" ? [] : toValue(JSON.parse(text)); // empty after a power failure
}
