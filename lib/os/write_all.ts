/**
 * Writes of which nothing is left out: the system may take a part of what it is given.
 * @module
 */

/** Writes all of `bytes` to an open file or stream. @throws What writing throws. */
export function writeAll(to: { writeSync(bytes: Uint8Array): number }, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += to.writeSync(bytes.subarray(at));
}
