/**
 * The answer of a server that checks users, of a bounded length.
 * @module
 */

import { joinBytes } from "#lib/values/join_bytes.ts";

/** Longest answer, in bytes. */
const MAX_BYTES = 1 << 20;

/**
 * Reads the body of an answer.
 * @param what Begins the text of the error: `the answer`.
 * @throws {RangeError} If it has more than 1 MiB.
 */
export async function boundedBody(response: Response, what: string): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const piece of response.body ?? []) {
    length += piece.length;
    if (length > MAX_BYTES) throw new RangeError(`${what} has more than ${MAX_BYTES} bytes`);
    pieces.push(piece);
  }
  return joinBytes(pieces);
}
