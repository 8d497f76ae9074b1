/**
 * What a minion sends instead of a return that is too large for its master: the return without its arguments, which the
 * master knows; if that is too large too, a failure that gives its size. Knows neither sockets nor files.
 * @module
 */

import type { RequestTooLargeError } from "#lib/errors.ts";
import type { KeptReturns } from "./kept_returns.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { encode } from "#lib/values/msgpack.ts";
import { plainRetcode } from "#lib/protocol/retcode.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The field of a failure with the size of the return and the master's limit. */
export const OVERSIZED = "oversized";

/** Smaller fields are sent unchanged: all of them together are far below the smallest limit. */
const SMALL_BYTES = 1_024;
/** Fields of the function's result, which a failure replaces. */
const RESULT: ReadonlySet<Value> = new Set(["return", "sealed", "out", "sig"]);

function sizeOf(value: Value): number {
  return encode(value, "disk").length;
}

/**
 * A return without its arguments, if they are large; `undefined` if that saves nothing. `test.echo` and similar
 * functions send the same data twice.
 */
export function withoutArguments(load: ValueMap): ValueMap | undefined {
  const bytes = sizeOf(load.get("fun_args") ?? null);
  if (bytes <= SMALL_BYTES) return undefined;
  return new Map(load).set("fun_args", [`(left out: ${bytes} bytes)`]);
}

/** Whether a return is such a failure already. */
function isOversized(load: ValueMap): boolean {
  return load.has(OVERSIZED);
}

/**
 * The failure that replaces a return.
 * @param remains A sentence that says where the return, or a part of it, is stored.
 */
export function oversizedFailure(load: ValueMap, { bytes, limit }: RequestTooLargeError, remains: string): ValueMap {
  const retcode = plainRetcode(load.get("retcode") ?? 0);
  const failure = new Map([...load].filter(([key, value]) => !RESULT.has(key) && sizeOf(value) <= SMALL_BYTES));
  const text =
    `The return of this job is too large for the master: ${bytes} bytes, and it takes ${limit} (max_request_bytes). ` +
    `The function has run to its end, with the return code ${retcode}. ${remains}`;
  const fields = { success: false, return: text, retcode: retcode === 0 ? 1 : retcode, [OVERSIZED]: { bytes, limit } };
  return new Map([...failure, ...map(fields)]);
}

/** What {@linkcode replacementFor} needs of its minion. */
export interface OversizedParts {
  readonly id: string;
  /** Keeps the first part of the return. */
  readonly kept: Pick<KeptReturns, "keep">;
  readonly log: Logger;
}

/**
 * What a minion sends instead of a load that is too large for its master; `undefined`: nothing, as it is not a return,
 * or a failure already.
 */
export function replacementFor(
  load: ValueMap,
  error: RequestTooLargeError,
  parts: OversizedParts,
): ValueMap | undefined {
  if (load.get("cmd") !== "_return" || isOversized(load)) return undefined;
  const smaller = withoutArguments(load);
  if (smaller !== undefined) return smaller;
  const jid = str(load.get("jid") ?? null);
  const kept = parts.kept.keep(load, error);
  parts.log.error(`The return of job ${jid} is a failure now: ${error.message}`);
  return oversizedFailure(
    load,
    error,
    kept === undefined
      ? "Nothing of it is kept."
      : `Its first ${kept} bytes are on the minion for a day: salt ${parts.id} saltutil.kept_return ${jid}`,
  );
}
