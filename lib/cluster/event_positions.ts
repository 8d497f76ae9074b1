/**
 * How far a master has read the events of the others: `<cachedir>/cluster/events.p`.
 * @module
 */

import { readFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { decodeIfWhole, encode } from "#lib/values/msgpack.ts";
import { isMap, map, toNumber } from "#lib/values/value.ts";

/** How far the events of other masters are in the own event log. */
export interface EventPositions {
  /** The number of the event of the own log that this is true after. */
  readonly number: number;
  /** The name of a master → the number of its last event. */
  readonly peers: ReadonlyMap<string, number>;
}

function path(directory: string): string {
  return `${directory}/events.p`;
}

/**
 * Writes them.
 * @throws {Error} If the file cannot be written.
 */
export function writeEventPositions(directory: string, { number, peers }: EventPositions): void {
  writeFileAtomic(path(directory), encode(map({ number, peers: new Map(peers) }), "disk"), {
    mode: 0o600,
    makeDirectory: true,
  });
}

/** Reads them; `undefined` if there are none. */
export function readEventPositions(directory: string): EventPositions | undefined {
  const stored = decodeIfWhole(readFileIfExists(path(directory)));
  const number = isMap(stored) ? toNumber(stored.get("number")) : undefined;
  const peers = isMap(stored) ? stored.get("peers") : undefined;
  if (number === undefined || !isMap(peers)) return undefined;
  const positions = new Map<string, number>();
  for (const [name, seq] of peers) if (typeof name === "string") positions.set(name, toNumber(seq) ?? -1);
  return { number, peers: positions };
}
