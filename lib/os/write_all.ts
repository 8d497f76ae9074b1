/**
 * Writes that are complete: the system may accept only a part of the data.
 * @module
 */

/**
 * Writes all of `bytes` to an open file or stream.
 * @throws What writing throws.
 */
export function writeAll(to: { writeSync(bytes: Uint8Array): number }, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += to.writeSync(bytes.subarray(at));
}
