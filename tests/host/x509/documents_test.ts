/** Documents whose encoding is right DER and whose parts are not those of a certificate; and a list of many entries. */

import {
  der,
  DerError,
  encodeInteger,
  encodeOid,
  encodeSequence,
  encodeString,
  encodeTime,
  readDer,
  TAG,
} from "#lib/host/x509/der.ts";
import { readCertificate, readRevocationList } from "#lib/host/x509/documents.ts";
import { readName } from "#lib/host/x509/names.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

const corpus: { readonly certificates: readonly { readonly made: { readonly value: string } }[] } = JSON.parse(
  Deno.readTextFileSync(new URL("../../corpus/x509.json", import.meta.url)),
);
const WHOLE = Uint8Array.fromBase64(
  corpus.certificates[0].made.value.replace(/-----[A-Z ]+-----/g, "").replace(/\s/g, ""),
);
/** The certificate's signed part, algorithm and signature. */
const OUTER = childrenOf(WHOLE);
/** Version, serial number, algorithm, issuer, validity, subject, key, extensions. */
const INNER = childrenOf(OUTER[0]);

function childrenOf(bytes: Uint8Array): Uint8Array[] {
  const children: Uint8Array[] = [];
  for (let body = readDer(bytes).body; body.length > 0; body = body.subarray(children[children.length - 1].length)) {
    const length = body[1] < 0x80 ? 2 + body[1] : lengthOf(body);
    children.push(body.subarray(0, length));
  }
  return children;
}

function lengthOf(bytes: Uint8Array): number {
  const count = bytes[1] & 0x7f;
  return 2 + count + bytes.subarray(2, 2 + count).reduce((sum, byte) => sum * 256 + byte, 0);
}

/** The certificate with another part instead of part `n`. */
const withPart = (n: number, part: Uint8Array) =>
  encodeSequence(encodeSequence(...INNER.with(n, part)), OUTER[1], OUTER[2]);
const explicitVersion = (n: number) => der(0xa0, encodeInteger(n));
const algorithm = encodeSequence(encodeOid("1.2.840.113549.1.1.11"), der(TAG.null));

const WRONG: readonly (readonly [what: string, certificate: Uint8Array, problem: string])[] = [
  ["a fourth part", encodeSequence(...OUTER, algorithm), "More values than expected"],
  ["version 4", withPart(0, explicitVersion(3)), "3 is not a valid X509 version"],
  ["version 0", withPart(0, explicitVersion(-1)), "-1 is not a valid X509 version"],
  ["a name as its version", withPart(0, der(0xa0, encodeString(TAG.utf8, "2"))), "Tag 12 where 2 was expected"],
  [
    "an algorithm with three values",
    withPart(2, encodeSequence(encodeOid("1.2.3"), der(TAG.null), der(TAG.null))),
    "More values than expected",
  ],
  ["a text as its algorithm", withPart(2, encodeSequence(encodeString(TAG.utf8, "x"))), "Tag 12 where 6 was expected"],
  ["a key without bits", withPart(6, encodeSequence(algorithm)), "Tag none where 3 was expected"],
  [
    "a key whose bits are a text",
    withPart(6, encodeSequence(algorithm, encodeString(TAG.utf8, "x"))),
    "Tag 12 where 3 was expected",
  ],
  ["a second key behind the first", withPart(7, INNER[6]), "Tag 48 behind the public key"],
  ["a name of sequences", withPart(3, encodeSequence(encodeSequence())), "Tag 48 where 49 was expected"],
];
for (const [what, certificate, problem] of WRONG) {
  Deno.test(`a certificate with ${what} is refused`, () => {
    assertEquals(readCertificate(WHOLE).version, 3);
    assertEquals(assertThrows(() => readCertificate(certificate), DerError).message, problem);
  });
}

Deno.test("an attribute without a value, and a character that does not exist, are refused", () => {
  const name = (...attribute: Uint8Array[]) => readDer(encodeSequence(der(TAG.set, encodeSequence(...attribute))));
  assertThrows(() => readName(name(encodeOid("2.5.4.3"))), DerError, "An attribute without a value");
  const beyond = der(TAG.universal, new Uint8Array([0, 0x11, 0, 0]));
  assertThrows(() => readName(name(encodeOid("2.5.4.3"), beyond)), DerError, "A character that does not exist");
  const smile = der(TAG.universal, new Uint8Array([0, 0x01, 0xf6, 0x00]));
  assertEquals(readName(name(encodeOid("2.5.4.3"), smile)), [[{ oid: "2.5.4.3", value: "\u{1f600}" }]]);
});

Deno.test("a revocation list of 20,000 entries is read", () => {
  const date = Date.UTC(2026, 0, 1);
  const entries = Array.from({ length: 20_000 }, (_, n) => encodeSequence(encodeInteger(n + 1), encodeTime(date)));
  const name = encodeSequence();
  const part = encodeSequence(
    encodeInteger(1),
    algorithm,
    name,
    encodeTime(date),
    encodeTime(date + 1_000),
    encodeSequence(...entries),
  );
  const list = readRevocationList(encodeSequence(part, algorithm, der(TAG.bitString, new Uint8Array([0, 1]))));
  assertEquals(list.revoked.length, 20_000);
  assertEquals(list.revoked.at(-1), { serial: 20_000n, date, extensions: [] });
});
