/**
 * Return codes: a number, or of a job of several functions one for each.
 * @module
 */

import { isMap, toNumber, type Value } from "../values/value.ts";

/** A return code as one number: of one by function the highest, but never 0 if one of them is not. */
export function plainRetcode(retcode: Value): number {
  const listed = isMap(retcode) ? [...retcode.values()] : Array.isArray(retcode) ? retcode : [retcode];
  // What is no number is no success either; a command that a signal ended has a negative one.
  const bad = listed.map((code) => code === null ? 0 : toNumber(code) ?? 1).filter((code) => code !== 0);
  return bad.length === 0 ? 0 : Math.max(...bad);
}
