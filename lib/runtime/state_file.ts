/**
 * Small files in which a running daemon tells commands of this host what it does, as JSON that only its user may read.
 * @module
 */

import { dumpJson } from "#lib/values/json.ts";
import { toValue, type Value } from "#lib/values/value.ts";
import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";

/**
 * Writes the state.
 * @throws What writing throws.
 */
export function writeState(path: string, state: Value): void {
  writeFileAtomic(path, dumpJson(state), { mode: 0o600 });
}

/** The state; an empty list if there is no file. */
export function readState(path: string): Value {
  const text = readTextFileIfExists(path);
  return text === undefined || text === "" ? [] : toValue(JSON.parse(text)); // empty after a power failure
}
