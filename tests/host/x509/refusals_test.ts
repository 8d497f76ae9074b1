/**
 * Arguments at which Salt fails with a Python error: here each is rejected with a message. Also features that no
 * certificate of the corpus has.
 */

import { loadPublicKey } from "#lib/crypto/asymmetric_keys.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { planCertificate, planList, revokedEntries, serialNumber, signCertificate } from "#lib/host/x509/building.ts";
import {
  contextTag,
  der,
  DerError,
  encodeOid,
  encodeSequence,
  encodeString,
  readDer,
  TAG,
} from "#lib/host/x509/der.ts";
import { keyKind } from "#lib/host/x509/documents.ts";
import { readExtensions } from "#lib/host/x509/extension_texts.ts";
import { makeExtension } from "#lib/host/x509/extension_values.ts";
import { generalName, readGeneralName } from "#lib/host/x509/general_names.ts";
import { loadCertificate, spkiOf } from "#lib/host/x509/loading.ts";
import { nameOf } from "#lib/host/x509/names.ts";
import { extensionName } from "#lib/host/x509/oids.ts";
import { pemEntry } from "#lib/host/x509/pem_entry.ts";
import { isSignedBy } from "#lib/host/x509/signing.ts";
import { map, toValue } from "#lib/values/value.ts";
import { assertEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";

const known: {
  readonly keys: Readonly<Record<string, { readonly private: string; readonly public: string }>>;
  readonly certificates: readonly { readonly made: { readonly value: string } }[];
} = JSON.parse(Deno.readTextFileSync(new URL("../../corpus/x509.json", import.meta.url)));
const CA = known.certificates[0].made.value;
const RSA = known.keys.rsa2048;

const ARGUMENTS: readonly [name: string, argument: unknown, problem: string][] = [
  ["nonsense", "x", "Unknown extension nonsense"],
  ["subjectKeyIdentifier", "hash", "Cannot calculate digest for subjectKeyIdentifier: missing pubkey"],
  ["subjectKeyIdentifier", 5, "Value must be a (hex-)digest or pubkey"],
  ["policyConstraints", 5, "Expected a dict or a str, not int"],
  ["tlsfeature", "status_request, x", "There is no feature of TLS called x"],
  ["crlDistributionPoints", [5], "A distribution point is a dict, not 5"],
  ["crlDistributionPoints", [{ fullname: "nonsense" }], "GeneralName type nonsense is invalid"],
  ["authorityInfoAccess", "OCSP;nonsense", "GeneralName type nonsense is invalid"],
  ["certificatePolicies", 5, "certificatePolicies must be a str or a dict"],
  ["certificatePolicies", { "1.2.3": [5] }, "A qualifier is a str or a dict, not 5"],
];
for (const [name, argument, problem] of ARGUMENTS) {
  Deno.test(`${name} of ${JSON.stringify(argument)} is refused: ${problem}`, () => {
    const { message } = assertThrows(() => makeExtension(name, toValue(argument), {}));
    assertEquals(message, problem);
  });
}

Deno.test("issuer:copy adds the names of the issuer's certificate to others", () => {
  const issuer = loadCertificate(CA);
  const own = issuer.extensions.find(({ oid }) => extensionName(oid) === "subjectAltName");
  assertEquals(makeExtension("issuerAltName", "issuer:copy", { issuer }).value, own?.value);
  const both = makeExtension("issuerAltName", ["issuer:copy", "dns:more"], { issuer }).value;
  assertEquals(
    both,
    encodeSequence(readDer(own?.value ?? new Uint8Array()).body, generalName(["dns", "more"])),
  );
});

Deno.test("a name whose parts are not texts, and a character that no domain has, are rejected", () => {
  assertThrows(() => nameOf(map({ CN: 5 })), CommandError, "value argument must be a str, not int");
  assertThrows(() => generalName(["dns", "é\ufffd.de"]), CommandError, "Codepoint of 'é\ufffd' not allowed");
});

Deno.test("a serial number may be bytes", () => {
  assertEquals([serialNumber(new Uint8Array([1, 2])), serialNumber(new Uint8Array())], [258n, 0n]);
});

Deno.test("revoked certificates that are not a list of maps are rejected", () => {
  assertThrows(() => revokedEntries("x"), InvocationError, "The revoked certificates are a list, not str");
  assertThrows(() => revokedEntries(["x"]), InvocationError, "A revoked certificate is a dict, not str");
  assertThrows(
    () => planList(map({ signing_private_key: RSA.private, signing_cert: CA, revoked: 5 }), () => {}),
    InvocationError,
    "not int",
  );
});

Deno.test("a certificate that another minion signs needs its signer's certificate, and cannot be signed here", async () => {
  const given = map({ public_key: known.keys.ec256.public, CN: "x", days_valid: 1 });
  assertThrows(
    () => planCertificate(given, true),
    CommandError,
    "A certificate that signs itself needs its signing private key here",
  );
  const plan = planCertificate(new Map([...given, ["signing_cert", CA]]), true);
  await assertRejects(() => signCertificate(plan, "sha256"), CommandError, "There is no key to sign the certificate");
});

Deno.test("an extension without a name in Salt has the name of the library, or is unknown", () => {
  assertEquals(extensionName("1.3.6.1.4.1.11129.2.4.3"), "ctPoison");
  assertEquals(extensionName("1.2.3"), "Unknown OID");
});

Deno.test("a key of a kind that Salt does not know has no type, and a general name of a rare kind is shown as text", () => {
  const dsa = encodeSequence(
    encodeSequence(encodeOid("1.2.840.10040.4.1")),
    der(TAG.bitString, new Uint8Array([0, 1])),
  );
  assertEquals(keyKind(dsa), { type: null, size: null });
  assertEquals(readGeneralName(readDer(encodeString(contextTag(3, false), "x400"))), { shown: "x400", value: "x400" });
});

Deno.test("a repeated extension is rejected", () => {
  const one = encodeSequence(encodeOid("2.5.29.14"), der(TAG.octetString, new Uint8Array([1])));
  assertEquals(readExtensions(readDer(encodeSequence(one))).map(({ oid }) => oid), ["2.5.29.14"]);
  assertThrows(() => readExtensions(readDer(encodeSequence(one, one))), DerError, "Two extensions of one kind");
  const value = der(TAG.octetString, new Uint8Array([1]));
  const longer = encodeSequence(encodeOid("2.5.29.14"), value, value, value);
  assertThrows(() => readExtensions(readDer(encodeSequence(longer))), DerError, "More values than expected");
});

Deno.test("an RSA signature by an unknown algorithm is invalid", async () => {
  const spki = spkiOf(loadPublicKey(RSA.public));
  const signed = loadCertificate(CA);
  assertEquals(await isSignedBy(signed, spki), true);
  assertEquals(await isSignedBy({ ...signed, digest: undefined, algorithm: "1.2.840.113549.1.1.99" }, spki), false);
});

Deno.test("a PEM text on one line with a misplaced dash is rejected unchanged", () => {
  const body = "QUJD";
  const line = `-----BEGIN X-----${body}-----END X-----`;
  assertEquals(pemEntry(line), `-----BEGIN X-----\n${body}\n-----END X-----\n`);
  const odd = `-----BEGIN X-----${body}-${body}-----END X-----`;
  assertEquals(
    assertThrows(() => pemEntry(odd), InvocationError).message,
    `PEM text not valid:\n${odd}`,
  );
});
