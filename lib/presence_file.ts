/**
 * The file in which the master says which minions are connected, for the commands on its host: `<cachedir>/presence.p`.
 * @module
 */

import { readFileIfExists, writeFileAtomic } from "./atomic_file.ts";
import { MsgpackError } from "./errors.ts";
import { decode, encode } from "./msgpack.ts";
import { isMap, toNumber } from "./value.ts";

function path(cachedir: string): string {
  return `${cachedir}/presence.p`;
}

/** Writes who is present: id → since when, in milliseconds since the epoch. @throws {Error} If it cannot be written. */
export function writePresence(cachedir: string, since: ReadonlyMap<string, number>): void {
  writeFileAtomic(path(cachedir), encode(new Map(since), "disk"), { mode: 0o600 });
}

/** Who is present, by the word of the last master; nobody if there is none, or it cannot be read. */
export function readPresence(cachedir: string): Map<string, number> {
  const present = new Map<string, number>();
  try {
    const bytes = readFileIfExists(path(cachedir));
    const since = bytes === undefined ? null : decode(bytes, "disk");
    if (isMap(since)) { for (const [id, ms] of since) if (typeof id === "string") present.set(id, toNumber(ms) ?? 0); }
  } catch (error) {
    if (!(error instanceof MsgpackError)) throw error;
  }
  return present;
}
