/** The answer of a server that checks users: whole up to 1 MiB, and refused above. */

import { boundedBody } from "#lib/auth/bounded_answer.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";

/** An answer in pieces of so many bytes, and how many of them were read. */
function answerOf(pieces: readonly number[]): { readonly response: Response; readonly read: () => number } {
  let read = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      if (read === pieces.length) controller.close();
      else controller.enqueue(new Uint8Array(pieces[read++]).fill(7));
    },
  }, { highWaterMark: 0 });
  return { response: new Response(body), read: () => read };
}

Deno.test("an answer of 1 MiB is whole, and of a longer one no more is read", async () => {
  const mib = 1 << 20;
  for (const pieces of [[], [0], [1], [mib], [mib - 1, 1], [mib / 2, mib / 2]]) {
    const bytes = await boundedBody(answerOf(pieces).response, "the answer");
    assertEquals([bytes.length, bytes.every((byte) => byte === 7)], [pieces.reduce((sum, n) => sum + n, 0), true]);
  }
  const { response, read } = answerOf([mib, 1, 5, 5]);
  await assertRejects(() => boundedBody(response, "the answer"), RangeError, "the answer has more than 1048576 bytes");
  assertEquals(read(), 2);
});
