import { hmacHex, isHmacHash } from "#lib/crypto/hmac.ts";
import { assertEquals } from "#tests/support/assert.ts";

/** Python's `hmac.new(b"key", b"The quick brown fox", NAME).hexdigest()`. */
const DIGESTS: Readonly<Record<string, string>> = {
  md5: "d006bc60c92ff6e54f615474fe835e02",
  sha1: "22f9e077a3cebd09248154f85d9a56c79941fd96",
  sha224: "aca35715b8cae3bcf41f49c9a5f88a174a2f38d4c78892a38061ed56",
  sha256: "203d1e5cedd2d18f8c5a3beff0bd9c1ebcb97097dfcb288c46b00c9227fde2c0",
  sha384: "60638fa0aa4b044fc6f50d5c4a11dd5c26863cd335e3aac16ac6434fc79505dfb05bc3d02a556e271979b41c9379f579",
  sha512: "36f44b125a8a90639dc46733039571792e081e0fd8685ff746784b02ed14aa35629d562c7117cde4a701570551faa5a5" +
    "e1b7ef1eb5c3bcd4cc1fdb8923fcf14e",
};
const bytes = (text: string) => new TextEncoder().encode(text);

for (const [name, digest] of Object.entries(DIGESTS)) {
  Deno.test(`HMAC with ${name} is Python's`, () => {
    if (!isHmacHash(name)) throw new Error(`${name} is no digest`);
    assertEquals(hmacHex(name, { key: bytes("key"), data: bytes("The quick brown fox") }), digest);
  });
}

Deno.test("other digests are refused", () => assertEquals(isHmacHash("crc32"), false));
