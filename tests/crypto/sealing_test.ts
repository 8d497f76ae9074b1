/** @module */
import { BLOCK } from "#lib/crypto/aes.ts";
import { opensslSealing, ownSealing, type Sealing } from "#lib/crypto/sealing.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { withoutAlgorithms } from "#tests/support/openssl_policy.ts";

const IV = crypto.getRandomValues(new Uint8Array(BLOCK));
const KEYS = [crypto.getRandomValues(new Uint8Array(24)), crypto.getRandomValues(new Uint8Array(32))] as const;

function sealed(sealing: Sealing, plain: Uint8Array): Uint8Array {
  const out = new Uint8Array(plain.length - plain.length % BLOCK + BLOCK);
  sealing.encrypt(IV, plain, out);
  return out;
}

Deno.test("the system's OpenSSL, if present, encrypts and decrypts like our own code, at any length and offset", () => {
  const openssl = opensslSealing(...KEYS);
  const own = ownSealing(...KEYS);
  // Without OpenSSL our own code handles every message, which crypticle_test.ts checks.
  if (openssl === undefined) return assert(Deno.build.os !== "linux" || !hasOpenssl());
  for (const length of [...Array(70).keys(), 1023, 4096, 300_001]) {
    const plain = new Uint8Array(length + 3).map((_, i) => i).subarray(3);
    const expected = sealed(own, plain);
    assertEquals(sealed(openssl, plain), expected, `${length}`);
    assertEquals(openssl.decrypt(IV, expected), plain, `${length}`);
    assertEquals(openssl.mac(plain), own.mac(plain), `${length}`);
  }
});

Deno.test("data that is not a whole number of blocks, or has no padding, is refused by both implementations", () => {
  for (const sealing of [ownSealing(...KEYS), opensslSealing(...KEYS) ?? ownSealing(...KEYS)]) {
    const right = sealed(sealing, new Uint8Array(BLOCK));
    assertEquals(sealing.decrypt(IV, new Uint8Array()), undefined);
    assertEquals(sealing.decrypt(IV, right.subarray(1)), undefined);
    assertEquals(sealing.decrypt(IV, right.subarray(0, BLOCK)), undefined, "a block of zeros ends in no padding");
    assertEquals(sealing.decrypt(IV, right), new Uint8Array(BLOCK));
  }
});

Deno.test("if a system policy forbids AES, large messages are encrypted by our own code", async () => {
  const out = await withoutAlgorithms(`
    import { Crypticle, generateKeyString } from "~/lib/crypto/crypticle.ts";
    const crypticle = new Crypticle(generateKeyString());
    console.log(crypticle.decrypt(crypticle.encrypt(new Uint8Array(1 << 20).fill(7))).length);
  `);
  assertEquals(out, String(1 << 20));
});

function hasOpenssl(): boolean {
  try {
    return new Deno.Command("openssl", { args: ["version"] }).outputSync().success;
  } catch {
    return false;
  }
}
