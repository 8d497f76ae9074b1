/**
 * The file in which the master says which minions are connected, and which were, for the commands on its host:
 * `<cachedir>/presence.p`. A minion that is in neither map does not tell (it is Python's).
 * @module
 */

import { readFileIfExists, writeFileAtomic } from "../os/atomic_file.ts";
import { MsgpackError } from "../errors.ts";
import { decode, encode } from "../values/msgpack.ts";
import { isMap, map, toNumber, type Value } from "../values/value.ts";

/** Who is there, and who has left: id → since when, in milliseconds since the epoch. */
export interface Presence {
  /** The minions that are connected. */
  readonly present: Map<string, number>;
  /** The minions that were, under this master or an earlier one. */
  readonly gone: Map<string, number>;
}

function path(cachedir: string): string {
  return `${cachedir}/presence.p`;
}

/** Writes who is present. @throws {Error} If it cannot be written. */
export function writePresence(cachedir: string, { present, gone }: Presence): void {
  writeFileAtomic(path(cachedir), encode(map({ present, gone }), "disk"), { mode: 0o600, makeDirectory: true });
}

/** Who is present, by the word of the last master; nobody if there is none, or it cannot be read. */
export function readPresence(cachedir: string): Presence {
  let kept: Value = null;
  try {
    const bytes = readFileIfExists(path(cachedir));
    if (bytes !== undefined) kept = decode(bytes, "disk");
  } catch (error) {
    if (!(error instanceof MsgpackError)) throw error;
  }
  return { present: times(kept, "present"), gone: times(kept, "gone") };
}

function times(kept: Value, field: string): Map<string, number> {
  const found = new Map<string, number>();
  const since = isMap(kept) ? kept.get(field) : undefined;
  if (isMap(since)) { for (const [id, ms] of since) if (typeof id === "string") found.set(id, toNumber(ms) ?? 0); }
  return found;
}
