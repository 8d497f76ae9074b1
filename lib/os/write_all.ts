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

/**
 * Writes all of `bytes` to an open file or stream; other work goes on while the reader is slow.
 * @throws What writing throws.
 */
export async function writeAllAsync(
  to: { write(bytes: Uint8Array): Promise<number> },
  bytes: Uint8Array,
): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
}
