/**
 * The functions of the module `x509` that read: certificates, requests, revocation lists, keys, blocks of PEM.
 * Source: Salt 3008.3 `salt/modules/x509_v2.py`.
 * @module
 */

import { readReference, textOrUndefined } from "./common.ts";
import { loadPrivateKey } from "#lib/crypto/asymmetric_keys.ts";
import { hashBytes } from "#lib/crypto/hash.ts";
import { InvocationError } from "#lib/errors.ts";
import { globAny } from "#lib/os/disk_paths.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { map, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";
import { keyKind, type SignedDocument } from "#lib/host/x509/documents.ts";
import { colonHex, numberHex, shownEntryExtensions, shownExtensions } from "#lib/host/x509/extension_texts.ts";
import { identifierOf } from "#lib/host/x509/extension_values.ts";
import {
  loadCertificate,
  loadRevocationList,
  loadSigningRequest,
  pemOf,
  publicKeyOf,
  referenceOf,
  spkiOf,
} from "#lib/host/x509/loading.ts";
import { attributeOf, type Name, nameText } from "#lib/host/x509/names.ts";
import { NAME_OIDS, shownName } from "#lib/host/x509/oids.ts";
import { pemEntry } from "#lib/host/x509/pem_entry.ts";
import { isPair, isSignedBy } from "#lib/host/x509/signing.ts";
import { utcTime } from "#lib/text/calendar.ts";

const DAY_MS = 86_400_000;

function shownSubject(name: Name): ValueMap {
  const subject: ValueMap = new Map();
  for (const word of NAME_OIDS.keys()) {
    const value = attributeOf(name, word);
    if (value !== undefined) subject.set(word, value);
  }
  return subject;
}

/** The digest that programs find certificates by: four bytes, the last one first. */
function nameHash(der: Uint8Array): string {
  return colonHex(hashBytes(der, "sha1").slice(0, 4).reverse());
}

function shownAlgorithm({ algorithm }: SignedDocument): string {
  return shownName(algorithm) ?? "Unknown OID";
}

function shownCertificate(given: Value, context: JobContext): ValueMap {
  const certificate = loadCertificate(referenceOf(given));
  const { type, size } = keyKind(certificate.spki);
  const digest = (name: string) => colonHex(hashBytes(certificate.der, name));
  const fips: Value = (context.opts as unknown as Readonly<Record<string, Value>>).fips_mode ?? false;
  return map({
    version: certificate.version,
    key_size: size,
    key_type: type,
    serial_number: numberHex(certificate.serial),
    fingerprints: { sha1: digest("sha1"), sha256: digest("sha256"), ...fips === false && { md5: digest("md5") } },
    subject: shownSubject(certificate.subject),
    subject_hash: nameHash(certificate.subjectDer),
    subject_str: nameText(certificate.subject),
    issuer: shownSubject(certificate.issuer),
    issuer_hash: nameHash(certificate.issuerDer),
    issuer_str: nameText(certificate.issuer),
    not_before: utcTime(certificate.notBefore),
    not_after: utcTime(certificate.notAfter),
    public_key: pemOf("PUBLIC KEY", certificate.spki),
    extensions: shownExtensions(certificate.extensions),
    signature_algorithm: shownAlgorithm(certificate),
  });
}

export const read_certificate: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the fields of a certificate.\n\ncertificate\n    A path, or PEM, base64, hexadecimal digits or DER.",
    "x509.read_certificate /etc/pki/mycert.crt",
  ),
  permissions: "all",
  params: { certificate: p.any() },
  run: ({ certificate }, context) => shownCertificate(certificate, context),
});

/** The files that a pattern matches, with what is read of each; those of which it is `None` are left out. */
function ofFiles(pattern: string, read: (path: string) => Value): ValueMap {
  const documents = globAny(pattern).filter((path) => isFile(path)).map((path) => [path, read(path)] as const);
  return new Map(documents.filter(([, value]) => value !== null));
}

export const read_certificates: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the fields of the certificates whose paths match a pattern, by path.",
    "x509.read_certificates '/etc/pki/*.crt'",
  ),
  permissions: "all",
  params: { glob_path: p.str() },
  run: ({ glob_path }, context) => ofFiles(glob_path, (path) => shownCertificate(path, context)),
});

export const read_crl: ModuleFunction<JobContext> = fn({
  doc: describe("Return the fields of a revocation list.", "x509.read_crl /etc/pki/my.crl"),
  permissions: "all",
  params: { crl: p.any() },
  run: ({ crl }) => {
    const list = loadRevocationList(referenceOf(crl)).found;
    const revoked = list.revoked.map(({ serial, date, extensions }): [string, Value] => [
      numberHex(serial).replaceAll(":", ""),
      map({ revocation_date: utcTime(date), extensions: shownEntryExtensions(extensions) }),
    ]);
    return map({
      issuer: shownSubject(list.issuer),
      last_update: utcTime(list.lastUpdate),
      next_update: list.nextUpdate === undefined ? null : utcTime(list.nextUpdate),
      revoked_certificates: new Map(revoked),
      extensions: shownExtensions(list.extensions),
      signature_algorithm: shownAlgorithm(list),
    });
  },
});

export const read_csr: ModuleFunction<JobContext> = fn({
  doc: describe("Return the fields of a signing request.", "x509.read_csr /etc/pki/mycert.csr"),
  permissions: "all",
  params: { csr: p.any() },
  run: ({ csr }) => {
    const request = loadSigningRequest(referenceOf(csr)).found;
    const { type, size } = keyKind(request.spki);
    return map({
      key_size: size,
      key_type: type,
      subject: shownSubject(request.subject),
      subject_hash: nameHash(request.subjectDer),
      subject_str: nameText(request.subject),
      public_key_hash: colonHex(identifierOf(request.spki)),
      extensions: shownExtensions(request.extensions),
    });
  },
});

/** Whether a certificate has expired in so many days. */
function endsWithin(given: Value, days: Value): boolean {
  return loadCertificate(referenceOf(given)).notAfter <= Date.now() + (toNumber(days) ?? 0) * DAY_MS;
}

export const expires: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a certificate expires within a number of days.", "x509.expires /etc/pki/my.crt days=7"),
  permissions: "all",
  params: { certificate: p.any(), days: p.any(0) },
  run: ({ certificate, days }) => endsWithin(certificate, days),
});

/** A certificate's path, if it is one, and its name. */
function identity(given: Value): Record<string, Value> {
  const cn = attributeOf(loadCertificate(referenceOf(given)).subject, "CN");
  return {
    ...typeof given === "string" && isFile(given) && { path: given },
    ...cn !== undefined && { cn },
  };
}

export const expired: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a certificate has expired, with its path and name.",
    "x509.expired /etc/pki/mycert.crt",
  ),
  permissions: "all",
  params: { certificate: p.any() },
  run: ({ certificate }) => map({ ...identity(certificate), expired: endsWithin(certificate, 0) }),
});

export const will_expire: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a certificate expires within a number of days, with its path and name.",
    "x509.will_expire /etc/pki/mycert.crt days=30",
  ),
  permissions: "all",
  params: { certificate: p.any(), days: p.any() },
  run: ({ certificate, days }) =>
    map({ check_days: days, ...identity(certificate), will_expire: endsWithin(certificate, days) }),
});

export const get_pem_entry: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the first PEM block of a text or a file, normalized. `pem_type` is a regular expression for its label.",
    "x509.get_pem_entry '-----BEGIN CERTIFICATE REQUEST-----\\nMIICyzCC…\\n-----END CERTIFICATE REQUEST-----'",
  ),
  permissions: "all",
  params: { text: p.any(), pem_type: p.str(null) },
  run: ({ text, pem_type }) => new TextEncoder().encode(pemEntry(readReference(referenceOf(text)), pem_type)),
});

export const get_pem_entries: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the first PEM block of each file whose path matches a pattern, by path. Files that are no text are ignored.",
    "x509.get_pem_entries '/etc/pki/*.crt'",
  ),
  permissions: "all",
  params: { glob_path: p.str() },
  run: ({ glob_path }) =>
    ofFiles(glob_path, (path) => {
      const text = textOrUndefined(path);
      return text === undefined ? null : new TextEncoder().encode(pemEntry(text));
    }),
});

export const get_private_key_size: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the size of a private key in bits; `None` for Ed25519 and Ed448.",
    "x509.get_private_key_size /etc/pki/mycert.key",
  ),
  permissions: "all",
  params: { private_key: p.any(), passphrase: p.str(null) },
  run: ({ private_key, passphrase }) => keyKind(spkiOf(loadPrivateKey(referenceOf(private_key), passphrase))).size,
});

export const get_public_key: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the public key of a public key, a certificate, a private key or a signing request, as PEM.",
    "x509.get_public_key /etc/pki/mycert.crt",
  ),
  permissions: "all",
  params: { key: p.any(), passphrase: p.str(null), asObj: p.any(null) },
  run: ({ key, passphrase }) => pemOf("PUBLIC KEY", publicKeyOf(referenceOf(key), passphrase)),
});

export const verify_crl: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a revocation list was signed by the key of a certificate.",
    "x509.verify_crl crl=/etc/pki/my.crl cert=/etc/pki/my.crt",
  ),
  permissions: "all",
  params: { crl: p.any(), cert: p.any() },
  run: ({ crl, cert }) => isSignedBy(loadRevocationList(referenceOf(crl)).found, publicKeyOf(referenceOf(cert), null)),
});

export const verify_private_key: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a private key is that of a public key, a certificate or a signing request.",
    "x509.verify_private_key private_key=/etc/pki/myca.key public_key=/etc/pki/myca.crt",
  ),
  permissions: "all",
  params: { private_key: p.any(), public_key: p.any(), passphrase: p.str(null) },
  run: ({ private_key, public_key, passphrase }) => {
    const key = loadPrivateKey(referenceOf(private_key), passphrase);
    return isPair(publicKeyOf(referenceOf(public_key), null), key);
  },
});

export const verify_signature: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a certificate was signed by a key, by default its own. Nothing else is checked.",
    "x509.verify_signature /etc/pki/mycert.pem signing_pub_key=/etc/pki/myca.crt",
  ),
  permissions: "all",
  params: { certificate: p.any(), signing_pub_key: p.any(null), signing_pub_key_passphrase: p.str(null) },
  run: ({ certificate, signing_pub_key, signing_pub_key_passphrase }) => {
    const signer = signing_pub_key === null || signing_pub_key === "" ? certificate : signing_pub_key;
    const spki = publicKeyOf(referenceOf(signer), signing_pub_key_passphrase);
    if (keyKind(spki).type === null) {
      throw new InvocationError("Invalid public key type, can only process rsa, ec, ed25519, ed448");
    }
    return isSignedBy(loadCertificate(referenceOf(certificate)), spki);
  },
});
