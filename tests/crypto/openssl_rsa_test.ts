/** @module */
import { AuthenticationError, KeyError } from "#lib/errors.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";
import { opensslEncrypt, opensslOperations, type PrivateOperations, REFUSED } from "#lib/crypto/openssl_rsa.ts";
import {
  type EncryptionAlgorithm,
  isEncryptionAlgorithm,
  isSigningAlgorithm,
  PrivateKey,
  type SigningAlgorithm,
} from "#lib/crypto/rsa.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import corpus from "#tests/corpus/crypto.json" with { type: "json" };

const PEM = corpus.keys.rsa2048.private;
const BYTES = new TextEncoder().encode("what is signed or sealed");
const SIGNING: SigningAlgorithm[] = ["PKCS1v15-SHA1", "PKCS1v15-SHA224"];
const ENCRYPTION: EncryptionAlgorithm[] = ["OAEP-SHA1", "OAEP-SHA224"];
const ABSENT = opensslOperations(PEM) === undefined;

Deno.test({
  name: "the system's OpenSSL signs and decrypts as the runtime does",
  ignore: ABSENT,
  fn() {
    const operations = opensslOperations(PEM);
    assert(operations !== undefined);
    const fast = PrivateKey.fromPem(PEM, operations);
    const slow = PrivateKey.fromPem(PEM);
    for (const algorithm of SIGNING) {
      assertEquals(fast.sign(algorithm, BYTES), slow.sign(algorithm, BYTES));
      assert(fast.publicKey.verify(algorithm, BYTES, fast.sign(algorithm, BYTES)));
    }
    assert(operations.sign("sha1", BYTES) !== undefined, "OpenSSL itself has done it");
    for (const algorithm of ENCRYPTION) {
      assertEquals(fast.decrypt(algorithm, slow.publicKey.encrypt(algorithm, BYTES)), BYTES);
    }
    assertEquals(operations.decrypt("sha1", slow.publicKey.encrypt("OAEP-SHA1", BYTES)), BYTES);
    assertEquals(operations.decrypt("sha1", slow.publicKey.encrypt("OAEP-SHA224", BYTES)), REFUSED);
    assertEquals(operations.decrypt("no such hash", slow.publicKey.encrypt("OAEP-SHA1", BYTES)), undefined);
    assertEquals(operations.sign("no such hash", BYTES), undefined);
  },
});

for (const path of ["the runtime", "OpenSSL"] as const) {
  Deno.test({
    name: `what Python Salt signed and encrypted is the same by ${path}`,
    ignore: path === "OpenSSL" && ABSENT,
    fn() {
      const pems: Readonly<Record<string, { readonly private: string }>> = corpus.keys;
      const keyOf = (name: string) => {
        const pem = pems[name].private;
        return PrivateKey.fromPem(pem, path === "OpenSSL" ? opensslOperations(pem) : undefined);
      };
      for (const { key, algorithm, data, signature } of corpus.pkcs1v15) {
        assert(isSigningAlgorithm(algorithm));
        assertEquals(keyOf(key).sign(algorithm, Uint8Array.fromBase64(data)).toBase64(), signature);
      }
      for (const { key, algorithm, data, ciphertext } of corpus.oaep) {
        assert(isEncryptionAlgorithm(algorithm));
        assertEquals(keyOf(key).decrypt(algorithm, Uint8Array.fromBase64(ciphertext)).toBase64(), data);
      }
    },
  });
}

Deno.test({
  name: "the system's OpenSSL encrypts for a public key what its bearer opens, several parts at once",
  ignore: ABSENT,
  fn() {
    const key = PrivateKey.fromPem(PEM);
    const parts = [BYTES, new Uint8Array(), new Uint8Array(76).fill(1)];
    for (const [algorithm, hash] of [["OAEP-SHA1", "sha1"], ["OAEP-SHA224", "sha224"]] as const) {
      const sealed = opensslEncrypt(key.publicKey.pem, hash, parts);
      assertEquals(sealed?.map((part) => key.decrypt(algorithm, part)), parts);
    }
    assertEquals(opensslEncrypt(key.publicKey.pem, "sha1", [BYTES, new Uint8Array(300)]), undefined);
    assertEquals(opensslEncrypt(key.publicKey.pem, "no such hash", [BYTES]), undefined);
    assertEquals(
      opensslEncrypt("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", "sha1", [BYTES]),
      undefined,
    );
  },
});

Deno.test("data too long for the key are refused, and without OpenSSL the runtime encrypts", () => {
  const key = PrivateKey.fromPem(PEM);
  const sealed = key.publicKey.encryptAll("OAEP-SHA1", [BYTES, BYTES], () => undefined);
  assertEquals(sealed.map((part) => key.decrypt("OAEP-SHA1", part)), [BYTES, BYTES]);
  assertThrows(() => key.publicKey.encryptAll("OAEP-SHA1", [new Uint8Array(300)], opensslEncrypt), KeyError);
});

Deno.test("data that were not encrypted for the key are refused, with OpenSSL and without", () => {
  const fast = PrivateKey.fromPem(PEM, opensslOperations(PEM));
  for (const length of [0, 1, 255, 256, 257, 600]) {
    assertThrows(() => fast.decrypt("OAEP-SHA1", new Uint8Array(length).fill(3)), AuthenticationError);
  }
});

Deno.test({
  name: "the runtime's RSA does not retry what OpenSSL fails to decrypt",
  ignore: ABSENT,
  fn() {
    const key = PrivateKey.fromPem(PEM, opensslOperations(PEM));
    const sealed = PrivateKey.fromPem(PEM).publicKey.encrypt("OAEP-SHA1", BYTES);
    const runtime = nodeBuiltin("node:crypto");
    const { privateDecrypt } = runtime;
    let tries = 0;
    try {
      runtime.privateDecrypt = (...args: Parameters<typeof privateDecrypt>) => {
        tries++;
        return privateDecrypt(...args);
      };
      const chosen = [new Uint8Array(), new Uint8Array(256), new Uint8Array(256).fill(3), new Uint8Array(10_000)];
      for (const algorithm of ENCRYPTION) {
        for (const bytes of chosen) assertThrows(() => key.decrypt(algorithm, bytes), AuthenticationError);
      }
      assertEquals([tries, key.decrypt("OAEP-SHA1", sealed)], [0, BYTES]);
      // The counter works: without OpenSSL the runtime refuses.
      assertThrows(() => PrivateKey.fromPem(PEM).decrypt("OAEP-SHA1", new Uint8Array(256)), AuthenticationError);
      assertEquals(tries, 1);
    } finally {
      runtime.privateDecrypt = privateDecrypt;
    }
  },
});

Deno.test("the runtime replaces OpenSSL operations that are not supported", () => {
  const refusing: PrivateOperations = { sign: () => undefined, decrypt: () => undefined };
  const key = PrivateKey.fromPem(PEM, refusing);
  assert(key.publicKey.verify("PKCS1v15-SHA1", BYTES, key.sign("PKCS1v15-SHA1", BYTES)));
  assertEquals(key.decrypt("OAEP-SHA1", key.publicKey.encrypt("OAEP-SHA1", BYTES)), BYTES);
});

Deno.test("a string that is no key supports no operation", () => {
  assertEquals(
    opensslOperations("-----BEGIN RSA PRIVATE KEY-----\nnonsense\n-----END RSA PRIVATE KEY-----\n"),
    undefined,
  );
});
