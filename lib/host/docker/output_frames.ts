/**
 * The output of a container: frames of a header of 8 bytes and what was written, or with a terminal bytes alone.
 * Source: docs.docker.com, "Docker Engine API v1.41", "Attach to a container", stream format.
 * @module
 */

import { joinBytes } from "#lib/values/join_bytes.ts";

const HEADER_BYTES = 8;

/** A piece of output. */
export interface OutputFrame {
  readonly stream: "stdout" | "stderr";
  readonly bytes: Uint8Array;
}

/** The frames of an output, in the order of writing. One that is cut off is given as far as it came. */
export async function* outputFrames(output: AsyncIterable<Uint8Array>): AsyncGenerator<OutputFrame> {
  let rest: Uint8Array = new Uint8Array();
  for await (const piece of output) {
    rest = rest.length === 0 ? piece : joinBytes([rest, piece]);
    for (;;) {
      if (rest.length < HEADER_BYTES) break;
      const size = new DataView(rest.buffer, rest.byteOffset, rest.byteLength).getUint32(4);
      if (rest.length < HEADER_BYTES + size) break;
      yield frame(rest[0], rest.slice(HEADER_BYTES, HEADER_BYTES + size));
      rest = rest.subarray(HEADER_BYTES + size);
    }
  }
  if (rest.length > HEADER_BYTES) yield frame(rest[0], rest.slice(HEADER_BYTES));
}

function frame(kind: number, bytes: Uint8Array): OutputFrame {
  return { stream: kind === 2 ? "stderr" : "stdout", bytes };
}
