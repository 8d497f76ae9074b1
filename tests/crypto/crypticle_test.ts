/**
 * The corpus is made by Python Salt 3008.3; see its field `about`.
 * @module
 */
import { Crypticle, generateKeyString } from "#lib/crypto/crypticle.ts";
import { AuthenticationError, KeyError, MsgpackError } from "#lib/errors.ts";
import { decode } from "#lib/values/msgpack.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertNotEquals, assertThrows } from "#tests/support/assert.ts";
import corpus from "#tests/corpus/crypto.json" with { type: "json" };

const { key, nonce, messages, raw } = corpus.crypticle;
const bytes = (base64: string) => Uint8Array.fromBase64(base64);
const text = (s: string) => new TextEncoder().encode(s);
const crypticle = new Crypticle(key);

Deno.test("a key string is the base64 of 56 bytes, and each is different", () => {
  const made = generateKeyString();
  assertEquals(made.length, 76);
  assertEquals(bytes(made).length, 56);
  assertNotEquals(made, generateKeyString());
  assertEquals(new Crypticle(made).keyString, made);
  for (const wrong of ["", "x", key.slice(4), key + "AAAA", "!".repeat(76)]) {
    assertThrows(() => new Crypticle(wrong), KeyError);
  }
});

Deno.test("Salt's messages are decrypted, with a nonce and without", () => {
  for (const message of messages) {
    assertEquals(
      crypticle.loads(bytes(message.message), message.nonce ?? undefined),
      decode(bytes(message.packed), "wire"),
      message.packed,
    );
  }
});

Deno.test("Salt's encryption of bytes of different lengths is decrypted", () => {
  for (const { data, message } of raw) assertEquals(crypticle.decrypt(bytes(message)), bytes(data), data);
});

Deno.test("decrypt() reverses encrypt() at every length around a block", () => {
  for (const length of [...Array(50).keys(), 4095, 4096, 100_000]) {
    const data = new Uint8Array(length).fill(length);
    const message = crypticle.encrypt(data);
    assertEquals(message.length, 16 + (Math.floor(length / 16) + 1) * 16 + 32, `${length}`);
    assertEquals(crypticle.decrypt(message), data, `${length}`);
  }
});

Deno.test("messages and data at odd offsets of larger buffers are accepted and not modified", () => {
  const data = text("0123456789abcdefXYZ").subarray(3);
  const message = crypticle.encrypt(data);
  const shifted = new Uint8Array([9, ...message]).subarray(1);
  assertEquals(crypticle.decrypt(shifted), data);
  assertEquals(new Uint8Array(shifted), message);
  assertEquals(data, text("3456789abcdefXYZ"));
});

Deno.test("the same data is encrypted to a different message each time", () => {
  assertNotEquals(crypticle.encrypt(text("x")), crypticle.encrypt(text("x")));
});

Deno.test("decrypt() refuses every message with a byte changed, cut off or added, and those of other keys", () => {
  const message = crypticle.encrypt(text("pickle::x"));
  const cases = [
    ...message.keys().map((at) => message.with(at, message[at] ^ 0x80)),
    ...message.keys().map((length) => message.subarray(0, length)),
    message.subarray(1),
    new Uint8Array([...message, 0]),
    new Crypticle(generateKeyString()).encrypt(text("pickle::x")),
  ];
  for (const wrong of cases) assertThrows(() => crypticle.decrypt(wrong), AuthenticationError);
});

Deno.test("a message of incomplete blocks is refused also with a valid signature", async () => {
  const macKey = await crypto.subtle.importKey(
    "raw",
    bytes(key).slice(24),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  for (const length of [0, 5, 16, 20, 32, 40]) {
    const sealed = new Uint8Array(length); // zeros decrypt to invalid padding
    const mac = new Uint8Array(await crypto.subtle.sign("HMAC", macKey, sealed));
    assertThrows(() => crypticle.decrypt(new Uint8Array([...sealed, ...mac])), AuthenticationError);
  }
});

Deno.test("loads() restores the values of dumps(), with a nonce and without", () => {
  const values: Value[] = [null, "pong", 7, map({ a: [1, "ü", true] }), new Uint8Array([255, 0])];
  for (const value of values) {
    assertEquals(crypticle.loads(crypticle.dumps(value)), value);
    assertEquals(crypticle.loads(crypticle.dumps(value, nonce), nonce), value);
  }
});

Deno.test("loads() refuses a reply with another nonce, or with none", () => {
  const other = "f".repeat(32);
  const cases: [Uint8Array, string][] = [
    [crypticle.dumps("x", nonce), other],
    [crypticle.dumps("x"), nonce],
    [crypticle.dumps("x".repeat(100)), nonce],
    [crypticle.dumps("x", "short"), "short"],
  ];
  for (const [message, expected] of cases) {
    assertThrows(() => crypticle.loads(message, expected), AuthenticationError, "another request");
  }
  assertThrows(() => crypticle.loads(crypticle.dumps("x", nonce)), MsgpackError);
});

Deno.test("a message without the prefix is an empty map; an invalid value is an error", () => {
  for (const data of ["", "pickle:", "Pickle::\x01", "no prefix"]) {
    const value = crypticle.loads(crypticle.encrypt(text(data)), nonce);
    assert(value instanceof Map && value.size === 0, data);
  }
  for (const data of ["pickle::", "pickle::\x93\x01", "pickle::\x01\x02"]) {
    const encoded = Uint8Array.from(data, (c) => c.charCodeAt(0));
    assertThrows(() => crypticle.loads(crypticle.encrypt(encoded)), MsgpackError);
  }
});

Deno.test("messages of one key stay readable after a thread has switched to OpenSSL for large messages", () => {
  const key = generateKeyString();
  // 600 KB: our own code encrypts the first part.
  const message = (i: number) => new Uint8Array(6_000 + i).fill(i);
  const sender = new Crypticle(key);
  const sealed = Array.from({ length: 100 }, (_, i) => sender.encrypt(message(i)));
  const receiver = new Crypticle(key);
  for (const [i, bytes] of sealed.entries()) assertEquals(receiver.decrypt(bytes), message(i));
  sealed[99][5_000] ^= 1;
  assertThrows(() => receiver.decrypt(sealed[99]), AuthenticationError);
  assertEquals(new Crypticle(key).decrypt(sender.encrypt(message(3))), message(3));
});
