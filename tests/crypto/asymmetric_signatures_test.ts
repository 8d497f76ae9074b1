import { generateKeyPairSync } from "node:crypto";
import { referencedBytes } from "#lib/crypto/asymmetric_keys.ts";
import { signData, verifyData } from "#lib/crypto/asymmetric_signatures.ts";
import { CommandError } from "#lib/errors.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";

const DATA = new TextEncoder().encode("what is signed");

Deno.test("a signature that is not two numbers in DER is not valid, whatever is wrong with it", async () => {
  // A digest that is shorter than half of the curve's numbers goes through Web Crypto.
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-521" });
  const signature = await signData(privateKey, DATA, "sha256");
  const verifies = (bytes: Uint8Array) => verifyData(publicKey, bytes, DATA, "sha256");
  assertEquals(await verifies(signature), true);
  assertEquals(await verifyData(publicKey, signature, DATA.subarray(1), "sha256"), false);
  const start = signature[1] === 0x81 ? 3 : 2;
  const broken: Record<string, Uint8Array> = {
    "empty": new Uint8Array(),
    "no sequence": signature.with(0, 0x31),
    "a length that is too large": signature.with(start - 1, signature[start - 1] + 1),
    "cut off": signature.subarray(0, signature.length - 1),
    "no number": signature.with(start, 0x03),
    "a number beyond the end": signature.with(start + 1, 0x7f).fill(1, start + 2),
    "a number alone": Uint8Array.of(0x30, 3, 0x02, 1, 1),
    "a number that is too long for the curve": Uint8Array.of(0x30, 0x6e, 0x02, 0x6c, ...new Uint8Array(0x6c).fill(1)),
    "more than two numbers": Uint8Array.of(0x30, 9, 0x02, 1, 1, 0x02, 1, 1, 0x02, 1, 1),
  };
  for (const [what, bytes] of Object.entries(broken)) assertEquals(await verifies(bytes), false, what);
});

Deno.test("signatures of P-521 are valid whatever the size of their numbers", async () => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-521" });
  for (let i = 0; i < 50; i++) {
    const data = Uint8Array.of(i);
    assertEquals(await verifyData(publicKey, await signData(privateKey, data, "sha256"), data, "sha256"), true);
  }
});

Deno.test("a key of another kind signs and verifies nothing", async () => {
  const { publicKey, privateKey } = generateKeyPairSync("x25519");
  await assertRejects(() => signData(privateKey, DATA, "sha256"), CommandError, "Unknown private key type: x25519");
  await assertRejects(
    () => verifyData(publicKey, DATA, DATA, "sha256"),
    CommandError,
    "Unknown public key type: x25519",
  );
});

Deno.test("a reference of base64 may say so", () => {
  assertEquals(referencedBytes(`b64:${DATA.toBase64()}`), DATA);
});
