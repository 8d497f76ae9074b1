/** @module */
import { packEvent } from "#lib/bus/event.ts";
import { PIECE_BYTES, Pieces, piecesOf } from "#lib/bus/pieces.ts";
import { startsWith } from "#lib/crypto/same_bytes.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { strictTest } from "#tests/support/strict.ts";

const event = (tag: string, bytes: number) => packEvent(tag, map({ text: "\n\n".repeat(bytes / 2) }));

/** Joins these messages as a subscriber does. */
const received = (messages: Iterable<Uint8Array>) => {
  const pieces = new Pieces();
  return [...messages].map((message) => pieces.join(message)).filter((whole) => whole !== undefined);
};

strictTest("an event comes out of its pieces as it was, whatever its size; each piece begins with its tag", () => {
  const tag = "salt/job/1/ret/a\nb";
  for (const bytes of [0, 100, PIECE_BYTES - 50, PIECE_BYTES, PIECE_BYTES + 2, 3 * PIECE_BYTES, 1_000_000]) {
    const whole = event(tag, bytes);
    const pieces = [...piecesOf(whole, { max: 1_000, number: 7 })];
    assertEquals(pieces.length, Math.ceil(whole.length / PIECE_BYTES));
    for (const piece of pieces) {
      assert(startsWith(piece, new TextEncoder().encode(tag)));
      assert(piece.length <= PIECE_BYTES + tag.length + 15);
    }
    assertEquals(received(pieces), [whole]);
  }
});

strictTest("a very large event has no more pieces than its share of a queue", () => {
  const whole = event("t", 1_000_000);
  const pieces = [...piecesOf(whole, { max: 5, number: 0 })];
  assertEquals(pieces.length, 5);
  assertEquals(received(pieces), [whole]);
});

strictTest("an event of which one piece is missing is dropped, and only that one", () => {
  const [first, second, third] = [10_000, 20_000, 30_000].map((bytes) => event("t", bytes));
  const split = [first, second, third].map((whole, number) => [...piecesOf(whole, { max: 1_000, number })]);
  for (let missing = 0; missing < split[1].length; missing++) {
    assertEquals(received([...split[0], ...split[1].toSpliced(missing, 1), ...split[2]]), [first, third]);
  }
  assertEquals(received([...split[0].slice(0, -1), ...split[1].slice(1), event("small", 2)]), [event("small", 2)]);
});

strictTest(
  "frames that are not pieces pass unchanged: other events, frames without a tag, and truncated frames",
  () => {
    const frames = ["", "x", "tag\n\n", "tag\n\n\x80", "\u0001welcome"].map((text) => new TextEncoder().encode(text));
    frames.push(Uint8Array.of(0x74, 0x0a, 0x0a, 0xc1), Uint8Array.of(0x74, 0x0a, 0x0a, 0xc1, ...new Array(11).fill(0)));
    assertEquals(received(frames), frames);
    const untagged = new Uint8Array(2 * PIECE_BYTES);
    assertEquals([...piecesOf(untagged, { max: 9, number: 0 })], [untagged]);
  },
);
