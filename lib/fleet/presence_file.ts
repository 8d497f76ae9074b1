/**
 * The file with the connected and disconnected minions, for commands on the master's host: `<cachedir>/presence.p`. A
 * minion in neither map does not report its presence (it is Python's).
 * @module
 */

import { readFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { decodeIfWhole, encode } from "#lib/values/msgpack.ts";
import { isMap, map, toNumber, type Value } from "#lib/values/value.ts";

/** Connected and disconnected minions: id → since when, in milliseconds since the epoch. */
export interface Presence {
  /** The minions that are connected. */
  readonly present: Map<string, number>;
  /** Minions that were connected to this master or an earlier one. */
  readonly gone: Map<string, number>;
}

function path(cachedir: string): string {
  return `${cachedir}/presence.p`;
}

/**
 * Writes the file.
 * @throws {Error} If it cannot be written.
 */
export function writePresence(cachedir: string, { present, gone }: Presence): void {
  writeFileAtomic(path(cachedir), encode(map({ present, gone }), "disk"), { mode: 0o600, makeDirectory: true });
}

/** Reads the file of the last master; empty if it does not exist or cannot be read. */
export function readPresence(cachedir: string): Presence {
  const stored = decodeIfWhole(readFileIfExists(path(cachedir)));
  return { present: times(stored, "present"), gone: times(stored, "gone") };
}

function times(stored: Value | undefined, field: string): Map<string, number> {
  const times = new Map<string, number>();
  const since = isMap(stored) ? stored.get(field) : undefined;
  if (isMap(since)) { for (const [id, ms] of since) if (typeof id === "string") times.set(id, toNumber(ms) ?? 0); }
  return times;
}
