/**
 * Writes to standard output, all of it.
 * @module
 */

/** Writes all of `bytes`; other work goes on while the reader is slow. */
export async function writeAllAsync(bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await Deno.stdout.write(bytes.subarray(at));
}
