/**
 * The file with the connected and disconnected minions, for commands on the master's host: `<cachedir>/presence.p`. A
 * minion in neither map does not report its presence (it is Python's). In a cluster `<cachedir>/presence_peers.p` has
 * those that are connected to other masters.
 * @module
 */

import { readFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { decodeIfWhole, encode } from "#lib/values/msgpack.ts";
import { isMap, map, toNumber, type Value } from "#lib/values/value.ts";

/** Connected and disconnected minions: id → since when, in milliseconds since the epoch. */
export interface Presence {
  /** The minions that are connected. */
  readonly present: Map<string, number>;
  /** Minions that were connected to this master or an earlier one. */
  readonly gone: Map<string, number>;
}

/** The minions of other masters of a cluster. */
export interface PeersPresence {
  /** Those that are connected to another master: id → since when, in milliseconds since the epoch. */
  readonly present: Map<string, number>;
  /** Whether the database is away: no job reaches them then, and this is what was known before. */
  readonly away: boolean;
}

function path(cachedir: string): string {
  return `${cachedir}/presence.p`;
}

function peersPath(cachedir: string): string {
  return `${cachedir}/presence_peers.p`;
}

/**
 * Writes the file of other masters' minions.
 * @throws {Error} If it cannot be written.
 */
export function writePeersPresence(cachedir: string, { present, away }: PeersPresence): void {
  writeFileAtomic(peersPath(cachedir), encode(map({ present, away }), "disk"), { mode: 0o600, makeDirectory: true });
}

/** Removes that file: this master has no others. */
export function removePeersPresence(cachedir: string): void {
  removeIfExists(peersPath(cachedir));
}

/** Reads that file; empty if this master is in no cluster. */
export function readPeersPresence(cachedir: string): PeersPresence {
  const stored = decodeIfWhole(readFileIfExists(peersPath(cachedir)));
  return { present: times(stored, "present"), away: isMap(stored) && stored.get("away") === true };
}

/**
 * Writes the file.
 * @throws {Error} If it cannot be written.
 */
export function writePresence(cachedir: string, { present, gone }: Presence): void {
  writeFileAtomic(path(cachedir), encode(map({ present, gone }), "disk"), { mode: 0o600, makeDirectory: true });
}

/** Reads the file of the last master; empty if it does not exist or cannot be read. */
export function readOwnPresence(cachedir: string): Presence {
  const stored = decodeIfWhole(readFileIfExists(path(cachedir)));
  return { present: times(stored, "present"), gone: times(stored, "gone") };
}

/** The minions of other masters that no job reaches, as the database is away. */
export function minionsBeyond(cachedir: string): ReadonlySet<string> {
  const { present, away } = readPeersPresence(cachedir);
  if (!away) return new Set();
  const here = readOwnPresence(cachedir).present;
  return new Set([...present.keys()].filter((id) => !here.has(id)));
}

/** The minions of this master and, in a cluster, of all others. */
export function readPresence(cachedir: string): Presence {
  const { present, gone } = readOwnPresence(cachedir);
  for (const [id, ms] of readPeersPresence(cachedir).present) {
    if (!present.has(id)) present.set(id, ms);
    gone.delete(id);
  }
  return { present, gone };
}

function times(stored: Value | undefined, field: string): Map<string, number> {
  const times = new Map<string, number>();
  const since = isMap(stored) ? stored.get(field) : undefined;
  if (isMap(since)) { for (const [id, ms] of since) if (typeof id === "string") times.set(id, toNumber(ms) ?? 0); }
  return times;
}
