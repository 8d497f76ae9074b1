/**
 * The returns of `no_log` jobs: sealed for whoever waits, by the minion if it can, else by the master; beside that everybody
 * sees the mask.
 * @module
 */

import { AuthenticationError, KeyError } from "../errors.ts";
import { hideResult } from "./no_log.ts";
import { asBytes } from "./payload.ts";
import { type ReturnKey, sealReturn } from "./return_key.ts";
import type { ValueMap } from "../values/value.ts";

/** The field of a return that holds what `return` does not show. */
const SEALED = "sealed";

/** A return as it may be kept and told. One that its minion has sealed already is not sealed again. */
export async function hideReturn(load: ValueMap, reader: string): Promise<ValueMap> {
  const hidden = hideResult(load);
  // The minion's signature was made over what is hidden: guesses could be proved by it.
  hidden.delete("sig");
  if (load.has(SEALED) || reader === "") return hidden;
  try {
    hidden.set(SEALED, await sealReturn(load.get("return") ?? null, reader));
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    // Whoever waits with a key that is none sees the mask, like everybody.
  }
  return hidden;
}

/** A return as whoever waits for it sees it; one that was sealed for somebody else shows the mask. */
export async function showReturn(data: ValueMap, key: ReturnKey): Promise<ValueMap> {
  const sealed = asBytes(data.get(SEALED));
  if (sealed === undefined) return data;
  try {
    return new Map([...data, ["return", await key.open(sealed)]]);
  } catch (error) {
    // What a minion sends is its own affair: it does not end the wait for the others.
    if (error instanceof AuthenticationError) return data;
    throw error;
  }
}
