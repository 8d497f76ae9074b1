import { padX931, unpadX931 } from "#lib/crypto/x931.ts";
import { assertEquals } from "#tests/support/assert.ts";

const SIZE = 16;

Deno.test("padding can be removed again, up to the maximum length of a block", () => {
  for (let length = 0; length <= SIZE; length++) {
    const data = new Uint8Array(length).fill(length);
    const block = padX931(data, SIZE);
    assertEquals(block?.length, length <= SIZE - 2 ? SIZE : undefined);
    // One byte of padding is START alone: OpenSSL writes it, but does not accept it.
    assertEquals(block && unpadX931(block), length === SIZE - 3 || length > SIZE - 2 ? undefined : data, `${length}`);
  }
});

Deno.test("a block with any one wrong padding byte is refused", () => {
  for (let length = 0; length < SIZE - 3; length++) {
    const block = padX931(new Uint8Array(length).fill(7), SIZE) ?? new Uint8Array();
    const filled = SIZE - length - 2;
    for (const at of [...Array(filled + 1).keys(), SIZE - 1]) {
      // None of these changes makes another valid padding byte.
      for (const change of [2, 0x80, 0xff]) {
        assertEquals(unpadX931(block.with(at, block[at] ^ change)), undefined, `byte ${at} of ${length}`);
      }
    }
  }
});
