/**
 * The corpus is made by Python Salt 3008.3; see its field `about`.
 * @module
 */
import { AuthenticationError, ConfigError, KeyError } from "#lib/errors.ts";
import {
  type EncryptionAlgorithm,
  isEncryptionAlgorithm,
  isSigningAlgorithm,
  PrivateKey,
  PublicKey,
  type SigningAlgorithm,
} from "#lib/crypto/rsa.ts";
import { publicPem, readPublicPem } from "#lib/crypto/rsa_public_pem.ts";
import { cleanPem, fingerprint, samePem } from "#lib/crypto/pem.ts";
import { padX931, unpadX931 } from "#lib/crypto/x931.ts";
import { assert, assertEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";
import corpus from "#tests/corpus/crypto.json" with { type: "json" };

const bytes = (base64: string) => Uint8Array.fromBase64(base64);
const text = (s: string) => new TextEncoder().encode(s);
const KEYS = new Map(
  Object.entries(corpus.keys).map(([name, key]) => [name, {
    bits: key.bits,
    private: PrivateKey.fromPem(key.private),
    public: PublicKey.fromPem(key.public),
  }]),
);

function keyOf(name: string) {
  const key = KEYS.get(name);
  assert(key);
  return key;
}

function encryptionAlgorithm(name: string): EncryptionAlgorithm {
  assert(isEncryptionAlgorithm(name));
  return name;
}

function signingAlgorithm(name: string): SigningAlgorithm {
  assert(isSigningAlgorithm(name));
  return name;
}

Deno.test("Salt's key files are read, and written byte for byte", () => {
  for (const [name, { private: privatePem, public: publicPem }] of Object.entries(corpus.keys)) {
    const key = keyOf(name);
    assertEquals(key.private.pem, privatePem, name);
    assertEquals(key.public.pem + "\n", publicPem, name);
    assertEquals(key.private.publicKey.pem, key.public.pem, name);
    assertEquals(key.public.size, Math.ceil(key.bits / 8), name);
  }
});

Deno.test("keys in other forms are the same keys: CRLF, space around, PKCS#8, PKCS#1", () => {
  const { private: privatePem, public: publicPem } = corpus.keys.rsa2048;
  const key = keyOf("rsa2048");
  const crlf = (pem: string) => `\r\n ${pem.replaceAll("\n", "\r\n")}\n\n`;
  for (const pem of [crlf(publicPem), publicPem.trim(), corpus.otherForms.pkcs1Public]) {
    assertEquals(PublicKey.fromPem(pem).pem, key.public.pem);
  }
  for (const pem of [crlf(privatePem), privatePem.trim(), corpus.otherForms.pkcs8Private]) {
    assertEquals(PrivateKey.fromPem(pem).pem, privatePem);
  }
});

Deno.test("X9.31 signatures equal Salt's byte for byte, and the signed data are recovered", () => {
  for (const { key, data, signature } of corpus.x931) {
    const message = `${key} ${data}`;
    assertEquals(keyOf(key).private.signX931(bytes(data)), bytes(signature), message);
    assertEquals(keyOf(key).public.recoverX931(bytes(signature)), bytes(data), message);
  }
});

Deno.test("recoverX931() refuses every changed, foreign, short, long and invalid signature", () => {
  const { private: key, public: publicKey } = keyOf("rsa2048");
  const signature = key.signX931(text("salt"));
  for (const at of [0, 1, 100, 254, 255]) {
    const changed = signature.with(at, signature[at] ^ 1);
    assertThrows(() => publicKey.recoverX931(changed), AuthenticationError);
  }
  const cases = [
    keyOf("other2048").private.signX931(text("salt")),
    key.sign("PKCS1v15-SHA1", text("salt")),
    signature.subarray(1),
    new Uint8Array([...signature, 0]),
    new Uint8Array([0, ...signature]),
    new Uint8Array(),
    new Uint8Array(256),
    new Uint8Array(256).fill(255),
    new Uint8Array(100_000).fill(7),
  ];
  for (const wrong of cases) assertThrows(() => publicKey.recoverX931(wrong), AuthenticationError);
});

Deno.test("a signature plus the modulus, which has the same residue, is refused", () => {
  const { private: key, public: publicKey } = keyOf("rsa2047"); // 2047 bits, so that the sum fits in 256 bytes
  const plusModulus = (signature: Uint8Array) =>
    Uint8Array.fromHex((BigInt(`0x${signature.toHex()}`) + publicKey.modulus).toString(16).padStart(512, "0"));
  assertThrows(() => publicKey.recoverX931(plusModulus(key.signX931(text("salt")))), AuthenticationError);
  const signature = key.sign("PKCS1v15-SHA1", text("x"));
  assert(publicKey.verify("PKCS1v15-SHA1", text("x"), signature));
  assert(!publicKey.verify("PKCS1v15-SHA1", text("x"), plusModulus(signature)));
});

Deno.test("an X9.31 block equals OpenSSL's, and every other block is refused", () => {
  const blocks: [number, string, string | undefined][] = [
    [8, "", "6bbbbbbbbbbbbacc"],
    [8, "01", "6bbbbbbbbbba01cc"],
    [8, "010203", "6bbbbbba010203cc"],
    [8, "01020304", "6bbbba01020304cc"],
    [8, "010203040506", "6a010203040506cc"],
    [8, "01020304050607", undefined],
  ];
  for (const [size, data, block] of blocks) {
    assertEquals(padX931(Uint8Array.fromHex(data), size)?.toHex(), block, data);
    if (block) assertEquals(unpadX931(Uint8Array.fromHex(block))?.toHex(), data, block);
  }
  // OpenSSL makes a block for data one byte shorter than the maximum, but does not accept it.
  assertEquals(padX931(Uint8Array.fromHex("0102030405"), 8)?.toHex(), "6bba0102030405cc");
  const refused = [
    "6bba0102030405cc",
    "6bbbbb01020304cc",
    "6bbbbbbbbbbbbbcc",
    "6bbbba01020304cd",
    "6cbbba01020304cc",
    "00bbba01020304cc",
    "",
  ];
  for (const block of refused) assertEquals(unpadX931(Uint8Array.fromHex(block)), undefined, block);
});

Deno.test("PKCS#1 v1.5 signatures equal Salt's byte for byte, and verify only with their data, key and hash", () => {
  for (const { key, algorithm, data, signature } of corpus.pkcs1v15) {
    const message = `${key} ${algorithm} ${data}`;
    const name = signingAlgorithm(algorithm);
    const { private: privateKey, public: publicKey } = keyOf(key);
    const right = bytes(signature);
    assertEquals(privateKey.sign(name, bytes(data)), right, message);
    assert(publicKey.verify(name, bytes(data), right), message);
    assert(!publicKey.verify(name, text("other"), right), message);
    assert(!publicKey.verify(name, bytes(data), right.with(5, right[5] ^ 1)), message);
    assert(!publicKey.verify(name, bytes(data), right.subarray(1)), message);
    assert(!publicKey.verify(name, bytes(data), new Uint8Array([0, ...right])), message);
    assert(!publicKey.verify(name, bytes(data), new Uint8Array(right.length).fill(255)), message);
    const otherHash = name === "PKCS1v15-SHA1" ? "PKCS1v15-SHA224" : "PKCS1v15-SHA1";
    assert(!publicKey.verify(otherHash, bytes(data), right), message);
    if (key !== "other2048") assert(!keyOf("other2048").public.verify(name, bytes(data), right), message);
  }
});

Deno.test("a signature with e = 3 and a forged rest after the digest does not verify", () => {
  // Bleichenbacher's forgery of 2006: a cube whose leading bytes look like a signature block.
  const { public: publicKey } = keyOf("rsa2048e3");
  const head = "0001ffffffffffffffff003021300906052b0e03021a05000414" + "00".repeat(20);
  const wanted = BigInt("0x" + head.padEnd(512, "0"));
  let low = 0n, high = 1n << 700n;
  while (low < high) {
    const middle = (low + high) >> 1n;
    if (middle ** 3n < wanted) low = middle + 1n;
    else high = middle;
  }
  const forged = Uint8Array.fromHex(low.toString(16).padStart(512, "0"));
  assert(!publicKey.verify("PKCS1v15-SHA1", text("anything"), forged));
});

Deno.test("OAEP: data encrypted by Salt and by us are decrypted", () => {
  for (const { key, algorithm, data, ciphertext } of corpus.oaep) {
    const message = `${key} ${algorithm} ${data}`;
    const name = encryptionAlgorithm(algorithm);
    const { private: privateKey, public: publicKey } = keyOf(key);
    assertEquals(privateKey.decrypt(name, bytes(ciphertext)), bytes(data), message);
    assertEquals(privateKey.decrypt(name, publicKey.encrypt(name, bytes(data))), bytes(data), message);
  }
});

Deno.test("decrypt() refuses data that were not encrypted with this padding for this key", () => {
  const { private: key, public: publicKey } = keyOf("rsa2048");
  const right = publicKey.encrypt("OAEP-SHA1", text("x"));
  const cases: [EncryptionAlgorithm, Uint8Array][] = [
    ["OAEP-SHA224", right],
    ["OAEP-SHA1", right.with(9, right[9] ^ 1)],
    ["OAEP-SHA1", right.subarray(1)],
    ["OAEP-SHA1", new Uint8Array()],
    ["OAEP-SHA1", new Uint8Array(256).fill(255)],
    ["OAEP-SHA1", keyOf("other2048").public.encrypt("OAEP-SHA1", text("x"))],
  ];
  for (const [algorithm, wrong] of cases) assertThrows(() => key.decrypt(algorithm, wrong), AuthenticationError);
});

Deno.test("data too long for the key is refused, and the error has the maximum length", () => {
  const { private: key, public: publicKey } = keyOf("rsa1024");
  assertThrows(() => publicKey.encrypt("OAEP-SHA224", new Uint8Array(76)), KeyError, "room for 70");
  assertEquals(publicKey.encrypt("OAEP-SHA1", new Uint8Array(76)).length, 128);
  assertThrows(() => key.signX931(new Uint8Array(127)), KeyError, "room for 126");
  assertThrows(() => PrivateKey.fromPem(corpus.unsignable).signX931(text("salt")), KeyError, "odd size");
});

Deno.test("unusable keys are refused with a reason that does not show the key", () => {
  const good = corpus.keys.rsa2048;
  const refused = corpus.refused;
  const publicCases: [string, string][] = [
    ["", "Not a public key"],
    ["garbage", "Not a public key"],
    ["-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", "corrupt"],
    ["-----BEGIN PUBLIC KEY-----\n####\n-----END PUBLIC KEY-----", "no base64"],
    [good.public.slice(0, 200), "corrupt"],
    [good.public.replace("\nM", "\nN"), "corrupt"],
    [good.public + "more", "corrupt"],
    [good.private, "Not a public key"],
    [refused.ecPublic, "Not an RSA key"],
    [refused.rsa512Public, "512 bits"],
  ];
  // Corpus of an earlier limit: OpenSSL encrypts for such a key.
  assertEquals(PublicKey.fromPem(refused.rsa8192Public).size, 1024);
  for (const [pem, reason] of publicCases) assertThrows(() => PublicKey.fromPem(pem), KeyError, reason);
  const privateCases: [string, string][] = [
    ["", "Not a private key"],
    [good.public, "Not a private key"],
    [good.private.slice(0, 900), "corrupt"],
    [refused.ecPrivate, "Not an RSA key"],
    [refused.encryptedPrivate, "passphrase"],
    [refused.rsa512Private, "512 bits"],
  ];
  for (const [pem, reason] of privateCases) assertThrows(() => PrivateKey.fromPem(pem), KeyError, reason);
});

Deno.test("a public key has one encoding: every changed byte, length or end makes another key or none", () => {
  const pem = corpus.keys.rsa2048.public;
  const { modulus } = PublicKey.fromPem(pem);
  const [head, foot] = ["-----BEGIN PUBLIC KEY-----\n", "\n-----END PUBLIC KEY-----"];
  const der = Uint8Array.fromBase64(pem.trim().slice(head.length, -foot.length));
  const read = (bytes: Uint8Array) => PublicKey.fromPem(head + bytes.toBase64() + foot);
  assertEquals(read(der).modulus, modulus);
  let keys = 0;
  for (let i = 0; i < der.length; i++) {
    for (const change of [1, 0x80]) {
      const changed = der.with(i, der[i] ^ change);
      try {
        const key = read(changed);
        // An accepted key is written back as the same bytes.
        assertEquals(key.pem.replace(/-----.*-----|\n/g, ""), changed.toBase64());
        keys++;
      } catch (error) {
        assert(error instanceof KeyError, `byte ${i}: ${error}`);
      }
    }
  }
  assert(keys > 0 && keys <= 2 * (256 + 3), `${keys} changed keys are taken`);
  for (let length = 0; length < der.length; length++) {
    assertThrows(() => read(der.subarray(0, length)), KeyError);
  }
  assertThrows(() => read(Uint8Array.of(...der, 0)), KeyError, "left over");
});

Deno.test("generate() makes a key of the requested size, and refuses unsupported sizes", async () => {
  const key = await PrivateKey.generate(1024);
  assertEquals(key.publicKey.size, 128);
  assertEquals(PrivateKey.fromPem(key.pem).publicKey.pem, key.publicKey.pem);
  assertEquals(key.publicKey.recoverX931(key.signX931(text("salt"))), text("salt"));
  for (const bits of [0, 512, 32769]) await assertRejects(() => PrivateKey.generate(bits), KeyError, `${bits} bits`);
});

Deno.test("fingerprints equal Salt's, also for a key in the wire format or with other line ends", () => {
  for (const { key, form, hashType, fingerprint: expected } of corpus.fingerprints) {
    const pems = Object.entries(corpus.keys).filter(([name]) => name === key).map(([, pair]) => pair);
    const pem = form === "private" ? pems[0].private : pems[0].public;
    for (const same of [pem, pem.trim(), pem.replaceAll("\n", "\r\n"), `\n${pem}\n\n`]) {
      assertEquals(fingerprint(same, hashType), expected, `${key} ${form} ${hashType}`);
    }
  }
  assertEquals(fingerprint("no key", "md5"), "ba:d1:9d:29:d2:1b:ce:b4:c2:79:e6:be:0f:c3:4f:3f");
  assertThrows(() => fingerprint("no key", "crc32"), ConfigError, "crc32");
});

Deno.test("samePem() ignores only line ends and surrounding white space", () => {
  const pem = corpus.keys.rsa2048.public;
  assertEquals(cleanPem(`\r\n${pem.replaceAll("\n", "\r\n")} `), pem.trim());
  for (const same of [pem, pem.trim(), pem.replaceAll("\n", "\r\n"), pem.replaceAll("\n", "\r")]) {
    assert(samePem(pem, same));
  }
  for (const other of [corpus.keys.other2048.public, "", pem.replaceAll("\n", "")]) assert(!samePem(pem, other));
});

Deno.test("names of algorithms from the wire are looked up as own properties only", () => {
  for (const name of ["OAEP-SHA1", "OAEP-SHA224"]) assert(isEncryptionAlgorithm(name));
  for (const name of ["PKCS1v15-SHA1", "PKCS1v15-SHA224"]) assert(isSigningAlgorithm(name));
  for (const name of ["OAEP-SHA256", "", "constructor", "toString", null, 1, undefined]) {
    assert(!isEncryptionAlgorithm(name) && !isSigningAlgorithm(name), String(name));
  }
});

Deno.test("CVE-2013-2228: a generated key has the exponent 65537, and a key with the exponent 1, which does not encrypt, is refused", async () => {
  const key = await PrivateKey.generate(1024);
  assertEquals(readPublicPem(key.publicKey.pem).exponent, 65537n);
  const { modulus } = key.publicKey;
  for (const exponent of [1n, 2n, 0n]) {
    assertThrows(() => PublicKey.fromPem(publicPem({ modulus, exponent })), KeyError);
  }
});
