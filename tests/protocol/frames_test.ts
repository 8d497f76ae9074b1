/** @module */
import { frame, FrameReader } from "#lib/protocol/frames.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("frames are complete, for every split of the stream", () => {
  const stream = [...frame(0, bytes("one")), ...frame(1, bytes("")), ...frame(1, bytes("three"))];
  for (let size = 1; size <= stream.length; size++) {
    const reader = new FrameReader(5);
    const frames: unknown[] = [];
    for (let at = 0; at < stream.length; at += size) {
      for (const { sender, content } of reader.push(Uint8Array.from(stream.slice(at, at + size)))) {
        frames.push([sender, new TextDecoder().decode(content)]);
      }
    }
    assertEquals(frames, [[0, "one"], [1, ""], [1, "three"]]);
  }
});

Deno.test("a frame with a too large length is refused before it is buffered", () => {
  assertThrows(
    () => new FrameReader(5).push(frame(1, bytes("longer")).slice(0, 5)),
    RangeError,
    "6 bytes, of at most 5",
  );
});
