/**
 * What a master remembers of its cluster on its own disk, so that it can start while the database is away:
 * `<cachedir>/cluster/member`. Everything secret in it is sealed as in the database.
 * @module
 */

import { readFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { decodeIfWhole, encode } from "#lib/values/msgpack.ts";
import { isMap, map, toNumber, type Value } from "#lib/values/value.ts";
import type { ClusterIdentity } from "./postgres_cluster.ts";

/** A generation of the publish key, sealed. */
export interface SealedKey {
  readonly generation: number;
  /** When it was made, by the clock of the database: milliseconds since the epoch. */
  readonly madeMs: number;
  readonly sealed: Uint8Array;
}

/** What is remembered. */
export interface RememberedCluster extends ClusterIdentity {
  /** The name of the cluster. */
  readonly id: string;
  /** The sealed root. */
  readonly root: Uint8Array;
  /** The publish keys that count, the newest first. */
  readonly publish: readonly SealedKey[];
}

/** What is remembered; `undefined`: nothing that can be used. */
export function readCluster(cachedir: string): RememberedCluster | undefined {
  const stored = decodeIfWhole(readFileIfExists(path(cachedir)));
  if (!isMap(stored)) return undefined;
  const id = stored.get("id"), root = stored.get("root"), keys = stored.get("publish");
  const origin = toNumber(stored.get("origin")), incarnation = toNumber(stored.get("incarnation"));
  if (typeof id !== "string" || !(root instanceof Uint8Array) || !Array.isArray(keys)) return undefined;
  if (origin === undefined || incarnation === undefined) return undefined;
  return { id, root, origin, incarnation, publish: keys.flatMap(sealedKey) };
}

function sealedKey(stored: Value): SealedKey[] {
  const [first = null, second = null, sealed] = Array.isArray(stored) ? stored : [];
  const generation = toNumber(first), madeMs = toNumber(second);
  if (generation === undefined || madeMs === undefined || !(sealed instanceof Uint8Array)) return [];
  return [{ generation, madeMs, sealed }];
}

/**
 * Remembers it.
 * @throws {Error} If the file cannot be written.
 */
export function writeCluster(cachedir: string, { id, root, origin, incarnation, publish }: RememberedCluster): void {
  const keys = publish.map(({ generation, madeMs, sealed }) => [generation, madeMs, sealed]);
  const stored = map({ id, root, origin, incarnation, publish: keys });
  writeFileAtomic(path(cachedir), encode(stored, "disk"), { mode: 0o600, makeDirectory: true, sync: true });
}

function path(cachedir: string): string {
  return `${cachedir}/cluster/member`;
}
