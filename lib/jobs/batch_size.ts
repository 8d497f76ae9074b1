/**
 * How many minions of a batch run the job at the same time.
 * Source: Salt 3008.3, `salt/cli/batch.py` get_bnum.
 * @module
 */

import { UsageError } from "#lib/errors.ts";

/**
 * The number of minions at a time, out of `count`, for `spec` (`3`, `25%`): at least one.
 * @throws {UsageError} If `spec` is neither a number nor a percentage.
 */
export function batchSize(spec: string, count: number): number {
  const percent = /^%?\s*(\d+(?:\.\d+)?)\s*%?$/.exec(spec.trim());
  const plain = /^\d+$/.exec(spec.trim());
  if (plain !== null) return Math.max(1, Number(plain[0]));
  if (percent === null || !spec.includes("%")) {
    throw new UsageError(`Invalid batch data sent: ${spec}\nData must be in the form of %10, 10% or 3`);
  }
  const size = Number(percent[1]) / 100 * count;
  return size < 1 ? 1 : Math.floor(size);
}
