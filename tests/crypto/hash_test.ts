import { ConfigError } from "#lib/errors.ts";
import { digestOf, hashBytes, streamingHash } from "#lib/crypto/hash.ts";
import { hashInThread } from "#lib/crypto/hash_in_thread.ts";
import { HASH_TYPES } from "#lib/crypto/hash_types.ts";
import { createHash } from "node:crypto";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";
import { withoutAlgorithms } from "#tests/support/openssl_policy.ts";

Deno.test("every way to a digest gives the same, of little and of much", async () => {
  for (const name of HASH_TYPES) {
    for (const size of [0, 63, 64, 100_000]) {
      const bytes = new Uint8Array(size).map((_, i) => i);
      const expected = createHash(name).update(bytes).digest("hex");
      assertEquals(hashBytes(bytes, name)?.toHex(), expected, `${name} of ${size}`);
      assertEquals((await digestOf(bytes, name))?.toHex(), expected, `${name} of ${size}`);
      for (const sizeHint of [size, 8 << 20]) {
        const streaming = streamingHash(name, { size: sizeHint });
        for (const part of [bytes.subarray(0, 50), bytes.subarray(50)]) streaming?.update(part);
        assertEquals(streaming?.digest().toHex(), expected, `${name} of ${size}`);
      }
      using hash = hashInThread(name);
      for (const part of [bytes.slice(0, 50), bytes.slice(50)]) await hash.update(part);
      assertEquals(hash.digest().toHex(), expected, `${name} of ${size}`);
    }
  }
});

Deno.test("a piece may be changed while it is digested", async () => {
  const bytes = new Uint8Array(32 << 20).fill(7);
  const expected = createHash("sha256").update(bytes).digest("hex");
  using hash = hashInThread("sha256");
  const added = hash.update(bytes);
  bytes.fill(0);
  await added;
  assertEquals(hash.digest().toHex(), expected);
});

Deno.test("there is no digest of another name", async () => {
  for (const name of ["", "sha3", "SHA256", "constructor"]) {
    assertEquals([await digestOf(new Uint8Array(), name), streamingHash(name)], [undefined, undefined]);
    assertThrows(() => hashInThread(name), ConfigError, `"${name}" is not one of md5, sha1, `);
  }
});

Deno.test("if a system policy takes the digests from OpenSSL, large data are digested by our own code", async () => {
  const out = await withoutAlgorithms(`
    import { hashInThread } from "~/lib/crypto/hash_in_thread.ts";
    const hash = hashInThread("sha256");
    for (const text of ["a", "bc"]) await hash.update(new TextEncoder().encode(text));
    console.log(hash.digest().toHex());
    hash[Symbol.dispose]();
  `);
  assertEquals(out, createHash("sha256").update("abc").digest("hex"));
});
