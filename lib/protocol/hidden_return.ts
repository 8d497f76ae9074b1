/**
 * The returns of `no_log` jobs: encrypted for the waiting client, by the minion if it can, else by the master.
 * All other readers see the mask.
 * @module
 */

import { AuthenticationError, KeyError } from "#lib/errors.ts";
import { hideResult } from "./no_log.ts";
import { asBytes } from "./payload.ts";
import { type ReturnKey, sealReturn } from "./return_key.ts";
import type { ValueMap } from "#lib/values/value.ts";

/** The field of a return with the encrypted content. */
const SEALED = "sealed";

/** A return as it may be stored and published. A return that its minion has encrypted is not encrypted again. */
export async function hideReturn(load: ValueMap, reader: string): Promise<ValueMap> {
  const hidden = hideResult(load);
  // The minion's signature covers the hidden content, and would allow guesses to be verified.
  hidden.delete("sig");
  if (load.has(SEALED) || reader === "") return hidden;
  try {
    hidden.set(SEALED, await sealReturn(load.get("return") ?? null, reader));
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    // A client whose key is invalid sees the mask, like everybody else.
  }
  return hidden;
}

/** A return as the waiting client sees it. If it was encrypted for another key, the mask is shown. */
export async function showReturn(data: ValueMap, key: ReturnKey): Promise<ValueMap> {
  const sealed = asBytes(data.get(SEALED));
  if (sealed === undefined) return data;
  try {
    return new Map([...data, ["return", await key.open(sealed)]]);
  } catch (error) {
    // A bad return of one minion must not end the wait for the others.
    if (error instanceof AuthenticationError) return data;
    throw error;
  }
}
