import { AuthenticationError, KeyError } from "#lib/errors.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

const key = await PrivateKey.generate(1024);

/** Bytes that the padding takes: two digests and two more (RFC 8017, section 7.1.1). */
for (const [algorithm, padding] of [["OAEP-SHA1", 42], ["OAEP-SHA224", 58]] as const) {
  Deno.test(`${algorithm} encrypts exactly as many bytes as the key allows`, () => {
    const room = key.publicKey.size - padding;
    for (const length of [0, 1, room]) {
      const data = new Uint8Array(length).fill(7);
      assertEquals(key.decrypt(algorithm, key.publicKey.encrypt(algorithm, data)), data);
    }
    assertThrows(() => key.publicKey.encrypt(algorithm, new Uint8Array(room + 1)), KeyError, `${room}`);
    const other = algorithm === "OAEP-SHA1" ? "OAEP-SHA224" : "OAEP-SHA1";
    assertThrows(() => key.decrypt(other, key.publicKey.encrypt(algorithm, new Uint8Array(1))), AuthenticationError);
  });
}
