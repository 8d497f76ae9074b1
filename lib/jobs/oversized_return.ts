/**
 * What a minion sends in the place of a return that is larger than its master takes: the return without its arguments, which
 * the master knows; if that is too large as well, a failure that says how large it was.
 *
 * Knows neither sockets nor files.
 * @module
 */

import type { RequestTooLargeError } from "../errors.ts";
import type { KeptReturns } from "./kept_returns.ts";
import type { Logger } from "../process/log.ts";
import { encode } from "../values/msgpack.ts";
import { plainRetcode } from "../protocol/retcode.ts";
import { map, str, type Value, type ValueMap } from "../values/value.ts";

/** The field of a failure that says how large the return was, and how large the master takes it. */
export const OVERSIZED = "oversized";

/** A field of at most so many bytes is sent as it is: the fields together are far below the least limit. */
const SMALL_BYTES = 1_024;
/** What is the function's own; a failure has others. */
const RESULT: ReadonlySet<Value> = new Set(["return", "sealed", "out", "sig"]);

function sizeOf(value: Value): number {
  return encode(value, "disk").length;
}

/**
 * A return without its arguments, if they are large; `undefined` if nothing can be won by that. `test.echo` and its like send
 * the same twice.
 */
export function withoutArguments(load: ValueMap): ValueMap | undefined {
  const bytes = sizeOf(load.get("fun_args") ?? null);
  if (bytes <= SMALL_BYTES) return undefined;
  return new Map(load).set("fun_args", [`(left out: ${bytes} bytes)`]);
}

/** Whether a return is a failure in the place of another one already. */
export function isOversized(load: ValueMap): boolean {
  return load.has(OVERSIZED);
}

/** The failure in the place of a return. @param remains A sentence about where the return, or its beginning, can be had. */
export function oversizedFailure(load: ValueMap, { bytes, limit }: RequestTooLargeError, remains: string): ValueMap {
  const retcode = plainRetcode(load.get("retcode") ?? 0);
  const failure = new Map([...load].filter(([key, value]) => !RESULT.has(key) && sizeOf(value) <= SMALL_BYTES));
  const text =
    `The return of this job is too large for the master: ${bytes} bytes, and it takes ${limit} (max_request_bytes). ` +
    `The function has run to its end, with the return code ${retcode}. ${remains}`;
  const fields = { success: false, return: text, retcode: retcode === 0 ? 1 : retcode, [OVERSIZED]: { bytes, limit } };
  return new Map([...failure, ...map(fields)]);
}

/** What {@linkcode insteadOf} needs of its minion. */
export interface OversizedParts {
  /** The minion's id. */
  readonly id: string;
  /** Keeps the beginning. */
  readonly kept: Pick<KeptReturns, "keep">;
  /** The minion's log. */
  readonly log: Logger;
}

/**
 * What a minion sends in the place of something that is too large for its master; `undefined`: nothing, as it is no return, or
 * a failure already.
 */
export function insteadOf(load: ValueMap, error: RequestTooLargeError, parts: OversizedParts): ValueMap | undefined {
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
