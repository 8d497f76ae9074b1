/**
 * Keys of more than 4096 bits: the host's OpenSSL makes and uses them.
 * @module
 */

import { publicPem } from "#lib/crypto/rsa_public_pem.ts";
import { PrivateKey, PublicKey } from "#lib/crypto/rsa.ts";
import { AuthenticationError, KeyError } from "#lib/errors.ts";
import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { TREE_CONFIG } from "#tests/support/tree_config.ts";

/** Made in a second or two; 8192 bits take ten times as long. */
const BITS = 4224;
const BYTES = new TextEncoder().encode("the shared key");

Deno.test("a key of more than 4096 bits is made, stored, read, signs and decrypts", async () => {
  const made = await PrivateKey.generate(BITS);
  assertEquals(made.publicKey.size, BITS / 8);
  const key = PrivateKey.fromPem(made.pem);
  assertEquals(key.pem, made.pem);
  const peer = PublicKey.fromPem(made.publicKey.pem);
  for (const algorithm of ["PKCS1v15-SHA1", "PKCS1v15-SHA224"] as const) {
    assertEquals(peer.verify(algorithm, BYTES, key.sign(algorithm, BYTES)), true);
    assertEquals(peer.verify(algorithm, BYTES, key.sign(algorithm, BYTES.subarray(1))), false);
  }
  for (const algorithm of ["OAEP-SHA1", "OAEP-SHA224"] as const) {
    const sealed = peer.encrypt(algorithm, BYTES);
    assertEquals(key.decrypt(algorithm, sealed), BYTES);
    sealed[9] ^= 1;
    assertThrows(() => key.decrypt(algorithm, sealed), AuthenticationError);
  }
  assertEquals(peer.recoverX931(key.signX931(BYTES)), BYTES);
});

Deno.test("a long key of a peer with a large exponent, and a key beyond Salt's limit, are refused", async () => {
  const modulus = (1n << 4999n) + 1n;
  assertEquals(PublicKey.fromPem(publicPem({ modulus, exponent: 65537n })).size, 625);
  const refused = publicPem({ modulus, exponent: (1n << 32n) + 1n });
  assertThrows(() => PublicKey.fromPem(refused), KeyError, "at most");
  assertThrows(() => PublicKey.fromPem(publicPem({ modulus: (1n << 32768n) + 1n, exponent: 3n })), KeyError, "32768");
  await assertRejects(() => PrivateKey.generate(32769), KeyError, "32768");
});

Deno.test("without OpenSSL a long key is refused with the reason", async () => {
  const module = new URL("../../lib/crypto/rsa.ts", import.meta.url).href;
  const code = `import { PrivateKey, PublicKey } from ${JSON.stringify(module)};
    import { publicPem } from ${JSON.stringify(new URL("./rsa_public_pem.ts", module).href)};
    try { await PrivateKey.generate(${BITS}); } catch (error) { console.log(error.message); }
    const peer = PublicKey.fromPem(publicPem({ modulus: (1n << 4999n) + 1n, exponent: 65537n }));
    try { peer.encrypt("OAEP-SHA1", new Uint8Array(1)); } catch (error) { console.log(error.message); }`;
  const file = Deno.makeTempFileSync({ suffix: ".ts" });
  Deno.writeTextFileSync(file, code);
  try {
    // Without the permission for foreign functions there is no library.
    const args = ["run", "--no-check", "--no-prompt", "--allow-read", "--allow-env", `--config=${TREE_CONFIG}`, file];
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
    const [made, sealed] = new TextDecoder().decode(stdout).split("\n");
    assertStringIncludes(made ?? "", "A key of 4224 bits needs OpenSSL", new TextDecoder().decode(stderr));
    assertStringIncludes(sealed ?? "", "A key of 5000 bits needs OpenSSL");
  } finally {
    Deno.removeSync(file);
  }
});
