import { createCipheriv } from "node:crypto";
import { AesKey, BLOCK } from "#lib/crypto/aes.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

const IV = Uint8Array.fromHex("000102030405060708090a0b0c0d0e0f");
const PLAIN = Uint8Array.fromHex(
  "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51" +
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
);

/** NIST SP 800-38A, F.2: CBC of the same four blocks with keys of each size. */
const CBC: readonly (readonly [key: string, sealed: string])[] = [
  [
    "2b7e151628aed2a6abf7158809cf4f3c",
    "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2" +
    "73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7",
  ],
  [
    "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
    "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a" +
    "571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd",
  ],
  [
    "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
    "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d" +
    "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b",
  ],
];

function sealed(key: AesKey, iv: Uint8Array, plain: Uint8Array): Uint8Array {
  const out = new Uint8Array(plain.length + BLOCK - plain.length % BLOCK);
  key.encryptCbc(iv, plain, out);
  return out;
}

for (const [key, expected] of CBC) {
  Deno.test(`AES-${key.length * 4}-CBC encrypts and decrypts NIST's example`, () => {
    const aes = new AesKey(Uint8Array.fromHex(key));
    const out = sealed(aes, IV, PLAIN);
    assertEquals(out.subarray(0, PLAIN.length).toHex(), expected);
    assertEquals(out.length, PLAIN.length + BLOCK, "a whole block of padding");
    assertEquals(aes.decryptCbc(IV, out), PLAIN);
  });
}

for (const bits of [128, 256] as const) {
  Deno.test(`AES-${bits}-CBC agrees with node:crypto on every length up to five blocks`, () => {
    for (let length = 0; length <= 80; length++) {
      const key = crypto.getRandomValues(new Uint8Array(bits / 8));
      const iv = crypto.getRandomValues(new Uint8Array(BLOCK));
      const plain = crypto.getRandomValues(new Uint8Array(length));
      const cipher = createCipheriv(`aes-${bits}-cbc`, key, iv);
      const expected = cipher.update(plain).toString("hex") + cipher.final().toString("hex");
      const aes = new AesKey(key);
      assertEquals(sealed(aes, iv, plain).toHex(), expected);
      assertEquals(aes.decryptCbc(iv, Uint8Array.fromHex(expected)), plain);
    }
  });
}

Deno.test("AES-192-CBC agrees with node:crypto's AES-192 in ECB mode, block by block", () => {
  const key = crypto.getRandomValues(new Uint8Array(24));
  const aes = new AesKey(key);
  for (let i = 0; i < 100; i++) {
    const iv = crypto.getRandomValues(new Uint8Array(BLOCK));
    // CBC of a block of zeros is the cipher of the IV.
    const expected = createCipheriv("aes-192-ecb", key, null).update(iv).toString("hex");
    assertEquals(sealed(aes, iv, new Uint8Array(BLOCK)).subarray(0, BLOCK).toHex(), expected);
  }
});

Deno.test("decryptCbc() returns undefined for incomplete blocks, or blocks without padding", () => {
  const aes = new AesKey(Uint8Array.fromHex(CBC[1][0]));
  const whole = Uint8Array.fromHex(CBC[1][1]);
  assertEquals(aes.decryptCbc(IV, new Uint8Array()), undefined);
  assertEquals(aes.decryptCbc(IV, whole.subarray(0, 17)), undefined);
  assertEquals(aes.decryptCbc(IV, whole), undefined, "NIST's example has no padding");
});

Deno.test("AesKey refuses keys of other sizes", () => {
  for (const length of [0, 15, 20, 33]) assertThrows(() => new AesKey(new Uint8Array(length)), RangeError);
});
