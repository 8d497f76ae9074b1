import { sameBytes } from "#lib/crypto/same_bytes.ts";
import { assertEquals } from "#tests/support/assert.ts";

const CASES: readonly (readonly [number[], number[], boolean])[] = [
  [[], [], true],
  [[1, 2, 3], [1, 2, 3], true],
  [[0], [1], false],
  [[1, 2, 3], [0, 2, 3], false],
  [[1, 2, 3], [1, 2, 0], false],
  [[1, 2], [1, 2, 3], false],
  [[1, 2, 3], [1, 2], false],
  [[], [0], false],
];

Deno.test("two byte arrays are the same if their length and each byte are the same", () => {
  for (const [a, b, same] of CASES) {
    assertEquals(sameBytes(Uint8Array.from(a), Uint8Array.from(b)), same, `${a} and ${b}`);
  }
});
