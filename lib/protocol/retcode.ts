/**
 * Return codes: a number, or one number for each function of a job.
 * @module
 */

import { asList } from "#lib/values/shape.ts";
import { isMap, toNumber, type Value } from "#lib/values/value.ts";

/** One number for a return code: the highest of all functions, but never 0 if one of them is not 0. */
export function plainRetcode(retcode: Value): number {
  const codes = isMap(retcode) ? [...retcode.values()] : asList(retcode);
  // A value that is not a number is a failure. A command that a signal ended has a negative code.
  const bad = codes.map((code) => code === null ? 0 : toNumber(code) ?? 1).filter((code) => code !== 0);
  return bad.length === 0 ? 0 : Math.max(...bad);
}
