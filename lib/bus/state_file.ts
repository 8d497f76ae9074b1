/**
 * The file beside a bus's sockets in which it says who listens, for the commands on its host.
 * @module
 */

import { readTextFileIfExists, writeFileAtomic } from "../os/atomic_file.ts";
import type { Subscriber } from "./subscribers.ts";
import type { BusPaths } from "./paths.ts";
import { dumpJson } from "../values/json.ts";
import { map, toValue, type Value } from "../values/value.ts";

/** Where it is. */
export function busStatePath({ pub }: BusPaths): string {
  return pub.replace(/_pub\.ipc$/, "_subscribers.json");
}

/** Writes who listens. @throws What a write throws. */
export function writeBusState(paths: BusPaths, subscribers: readonly Subscriber[]): void {
  const listed = subscribers.map(({ name: { pid, prefixes }, dropped, stuck }) =>
    map({ pid, tags: [...prefixes], dropped, reads: !stuck })
  );
  writeFileAtomic(busStatePath(paths), dumpJson(listed), { mode: 0o600 });
}

/** Who listens; empty if the bus has not said. */
export function readBusState(paths: BusPaths): Value {
  const text = readTextFileIfExists(busStatePath(paths));
  return text === undefined || text === "" ? [] : toValue(JSON.parse(text)); // empty: left by a power failure
}
