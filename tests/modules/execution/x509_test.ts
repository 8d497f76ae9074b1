/**
 * The module `x509`, compared with documents that Python Salt made and read: tests/corpus/x509.json, made by
 * make_x509.py.
 */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { messageOf } from "#lib/errors.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("execution", "x509");

interface Answer {
  readonly value?: unknown;
  readonly error?: string;
}

interface Case {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly made: Answer;
  readonly read?: Answer;
}

interface CertificateCase extends Case {
  readonly der?: Answer;
  readonly pkcs7_der?: Answer;
  readonly pkcs7_pem?: Answer;
}

interface Key {
  readonly private: string;
  readonly encrypted: string;
  readonly der: string;
  readonly public: string;
  readonly size: number | null;
}

const corpus: {
  readonly keys: Readonly<Record<string, Key>>;
  readonly certificates: readonly CertificateCase[];
  readonly requests: readonly (Case & { readonly certificate?: Case })[];
  readonly lists: readonly (Case & { readonly verified: Answer })[];
} = JSON.parse(Deno.readTextFileSync(new URL("../../corpus/x509.json", import.meta.url)));

function call(fun: string, kwargs: Readonly<Record<string, unknown>>): Promise<Value> {
  return testContext().call(`x509.${fun}`, [], map(kwargs));
}

async function answer(fun: string, kwargs: Readonly<Record<string, unknown>>): Promise<Answer> {
  try {
    return { value: await call(fun, kwargs) };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

/** A recorded result as a value. */
function recorded(testCase: Answer | undefined): Value {
  return map({ value: testCase?.value }).get("value") ?? null;
}

function field(value: Value, name: string): Value {
  assert(isMap(value), `no map: ${str(value)}`);
  return value.get(name) ?? null;
}

/** A certificate's fields without those that its signature changes. */
function unsigned(read: Value): ValueMap {
  assert(isMap(read));
  return new Map([...read].filter(([name]) => name !== "fingerprints"));
}

/** Compares a new document with the recorded one: byte by byte if its signature is deterministic. */
async function assertMade(kind: "certificate" | "csr", testCase: Case, signer: string): Promise<void> {
  const made = await answer(`create_${kind}`, testCase.args);
  if (testCase.made.error !== undefined || !signer.startsWith("ec")) {
    assertEquals(made, testCase.made, testCase.name);
    return;
  }
  assertEquals(made.error, undefined, testCase.name);
  const read = await call(`read_${kind}`, { [kind]: made.value });
  assertEquals(unsigned(read), unsigned(recorded(testCase.read)), testCase.name);
  assertEquals(await call("verify_signature", { certificate: made.value }), true, testCase.name);
}

for (const [name, key] of Object.entries(corpus.keys)) {
  Deno.test(`x509 reads Salt's key ${name}, and encodes it as Salt does`, async () => {
    const { private: pem, encrypted, der, size } = key;
    assertEquals(await call("get_private_key_size", { private_key: pem }), size);
    assertEquals(await call("get_public_key", { key: encrypted, passphrase: "secret" }), key.public);
    assertEquals(await call("encode_private_key", { private_key: pem, encoding: "der" }), der);
    assertEquals(await call("encode_private_key", { private_key: der }), pem);
    const anew = await call("encode_private_key", { private_key: pem, passphrase: "other" });
    assertEquals(await call("verify_private_key", { private_key: anew, public_key: pem, passphrase: "other" }), true);
    const other = Object.values(corpus.keys).find((one) => one !== key);
    assertEquals(await call("verify_private_key", { private_key: pem, public_key: other?.public }), false);
  });
}

for (const testCase of corpus.certificates) {
  const signer = testCase.name.startsWith("CA of ") ? testCase.name.slice(6) : "rsa2048";
  Deno.test(`x509.create_certificate and read_certificate, ${testCase.name}: as Salt's`, async () => {
    await assertMade("certificate", testCase, signer);
    if (testCase.made.value === undefined) return;
    assertEquals(await call("read_certificate", { certificate: testCase.made.value }), recorded(testCase.read));
    const signed = { certificate: testCase.made.value, signing_pub_key: testCase.args.signing_cert ?? null };
    assertEquals(await call("verify_signature", signed), true);
    for (const encoding of ["der", "pkcs7_der", "pkcs7_pem"] as const) {
      const encoded = testCase[encoding];
      if (encoded === undefined) continue;
      assertEquals(
        await answer("encode_certificate", { certificate: testCase.made.value, encoding }),
        encoded,
        encoding,
      );
      assertEquals(await call("encode_certificate", { certificate: encoded.value }), testCase.made.value, encoding);
    }
  });
}

for (const testCase of corpus.requests) {
  Deno.test(`x509.create_csr and read_csr, ${testCase.name}: as Salt's`, async () => {
    await assertMade("csr", testCase, "rsa2048");
    if (testCase.made.value === undefined) return;
    assertEquals(await call("read_csr", { csr: testCase.made.value }), recorded(testCase.read));
    if (testCase.certificate !== undefined) await assertMade("certificate", testCase.certificate, "rsa2048");
  });
}

for (const testCase of corpus.lists) {
  Deno.test(`x509.create_crl and read_crl, ${testCase.name}: as Salt's`, async () => {
    assertEquals(await call("read_crl", { crl: testCase.made.value }), recorded(testCase.read));
    const cert = testCase.args.signing_cert;
    assertEquals(await call("verify_crl", { crl: testCase.made.value, cert }), testCase.verified.value);
    assertEquals(
      await call("encode_crl", { crl: testCase.made.value }),
      testCase.made.value,
      "what is PEM stays as it is",
    );
    const der = await call("encode_crl", { crl: testCase.made.value, encoding: "der" });
    assertEquals(await call("read_crl", { crl: der }), recorded(testCase.read), "and the other form says the same");
    const made = await call("create_crl", testCase.args);
    const timeless = (read: Value) =>
      ["issuer", "revoked_certificates", "extensions", "signature_algorithm"].map((name) => field(read, name));
    assertEquals(timeless(await call("read_crl", { crl: made })), timeless(recorded(testCase.read)));
    assertEquals(await call("verify_crl", { crl: made, cert }), true);
    assertEquals(await call("verify_crl", { crl: made, cert: corpus.certificates[1].made.value }), false);
  });
}

Deno.test("x509.create_private_key makes keys of each kind, and only their owner can read them", () =>
  withTemporaryDirectory(async (directory) => {
    for (const [algo, size] of [["rsa", 2048], ["ec", 384], ["ed25519", null], ["ed448", null]] as const) {
      const path = `${directory}/${algo}.key`;
      const made = await call("create_private_key", { algo, keysize: size, passphrase: "secret", path });
      assertEquals(made, `PEM written to ${path}`);
      assertEquals((await Deno.stat(path)).mode! & 0o777, 0o600);
      assertEquals(await call("get_private_key_size", { private_key: path, passphrase: "secret" }), size);
      const wrong = await answer("get_public_key", { key: path, passphrase: "other" });
      assertEquals(wrong.error, "Bad decrypt - is the password correct?");
    }
  }));

Deno.test("x509.create_private_key writes DER that only its owner can read", async () => {
  const path = await Deno.makeTempFile({ prefix: "x509_" });
  await Deno.remove(path);
  try {
    assertEquals(await call("create_private_key", { algo: "ed25519", encoding: "der", path }), null);
    assertEquals((await Deno.stat(path)).mode! & 0o777, 0o600);
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("x509.create_certificate copies only into its folder, whatever the common name is", () =>
  withTemporaryDirectory(async (directory) => {
    const key = await call("create_private_key", { algo: "ed25519" });
    const copied = { copypath: `${directory}/copies`, prepend_cn: true, serial_number: 255 };
    await Deno.mkdir(copied.copypath);
    await call("create_certificate", { signing_private_key: key, CN: "../outside", ...copied });
    assertEquals([...Deno.readDirSync(directory)].map(({ name }) => name), ["copies"]);
    assertEquals([...Deno.readDirSync(copied.copypath)].map(({ name }) => name), [".._outside-ff.crt"]);
  }));

Deno.test("x509.expired, expires and will_expire report the end of a certificate", async () => {
  const certificate = corpus.certificates[0].made.value;
  assertEquals(await call("expires", { certificate, days: 36500 }), true);
  assertEquals(await call("expires", { certificate, days: 1 }), false);
  assertEquals(await call("expired", { certificate }), map({ cn: " Müller+CA ", expired: false }));
  const later = await call("will_expire", { certificate, days: 36500 });
  assertEquals(later, map({ check_days: 36500, cn: " Müller+CA ", will_expire: true }));
});

Deno.test("x509.get_pem_entry reformats a block that is on one line", async () => {
  const text = str(corpus.certificates[0].made.value as string);
  const folded = text.replaceAll("\n", "");
  const entry = await call("get_pem_entry", { text: folded, pem_type: "CERTIFICATE" });
  assertEquals(new TextDecoder().decode(entry as Uint8Array), text);
  const wrong = await answer("get_pem_entry", { text, pem_type: "X509 CRL" });
  assertEquals(wrong.error, `PEM does not contain a single entry of type X509 CRL:\n${text}`);
});

Deno.test("x509 rejects digests that are too short for keys of P-521, with a message", async () => {
  const signing_private_key = corpus.keys.ec521.private;
  for (const digest of ["sha224", "sha3_256"]) {
    const result = await answer("create_certificate", { CN: "x", signing_private_key, digest });
    assertEquals(result.error, `Keys of P-521 are not used with ${digest.replace("_", "-")} here`);
  }
  const allowed = await call("create_certificate", { CN: "x", signing_private_key, digest: "sha256" });
  assertEquals(await call("verify_signature", { certificate: allowed }), true);
});
