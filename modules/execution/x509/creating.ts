/**
 * The functions of the module `x509` that make and encode: keys, certificates, requests, revocation lists.
 * Source: Salt 3008.3 `salt/modules/x509_v2.py`.
 * @module
 */

import { writeWithUmask } from "#lib/os/new_files.ts";
import { askRemote, checkEncoding, encodeDocument, localPolicy, writePem } from "./common.ts";
import { loadPrivateKey, loadPublicKey } from "#lib/crypto/asymmetric_keys.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";
import { existsOrThrow } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p, type Parameter } from "#lib/plugins/module.ts";
import { str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import {
  planCertificate,
  planList,
  planRequest,
  revokedEntries,
  signCertificate,
  signList,
  signRequest,
} from "#lib/host/x509/building.ts";
import type { Certificate } from "#lib/host/x509/documents.ts";
import {
  loadCertificate,
  loadRevocationList,
  loadSigningRequest,
  pemOf,
  pkcs7Of,
  referenceOf,
  spkiOf,
} from "#lib/host/x509/loading.ts";
import { attributeOf } from "#lib/host/x509/names.ts";
import { currentNames, withPolicy } from "#lib/host/x509/old_names.ts";
import { checkDigest } from "#lib/host/x509/signing.ts";
import { asListIfTruthy, textOrNull } from "#lib/values/shape.ts";
import type { KeyObject } from "node:crypto";

const CERTIFICATE_ENCODINGS = ["der", "pem", "pkcs7_der", "pkcs7_pem", "pkcs12"] as const;
const KEY_ENCODINGS = ["der", "pem", "pkcs12"] as const;
const PLAIN_ENCODINGS = ["der", "pem"] as const;

/**
 * Writes what was made to a file.
 * @returns What to say.
 */
function writeDocument(der: Uint8Array, path: string, { encoding, label, kind, message, mode }: {
  readonly encoding: string;
  readonly label: string;
  readonly kind: string;
  readonly message: string | null;
  /** Of a file that is not there yet and is no PEM; default: as the umask says. */
  readonly mode?: number;
}): string | null {
  if (encoding === "pem") return writePem(pemOf(label, der), path, true, kind);
  writeWithUmask(path, der, mode);
  return message;
}

function certificateOut(
  [certificate, ...chain]: readonly [Certificate, ...Certificate[]],
  { encoding, raw }: { readonly encoding: string; readonly raw: boolean },
): string | Uint8Array {
  if (encoding === "pem") {
    const pem = [certificate, ...chain].map((one) => pemOf("CERTIFICATE", one.der)).join("\n");
    return raw ? new TextEncoder().encode(pem) : pem;
  }
  const container = encoding.startsWith("pkcs7");
  const der = container ? pkcs7Of([certificate, ...chain]) : certificate.der;
  return encodeDocument(der, { encoding, label: "PKCS7", raw });
}

function text(given: Value, otherwise: string): string {
  return given === null ? otherwise : str(given);
}

export const encode_certificate: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return a certificate in another encoding: pem, der, pkcs7_pem or pkcs7_der. Binary encodings are base64, or bytes with \`raw\`.
\`append_certs\` are certificates that follow it. Containers of PKCS#12 are not written.`,
    "x509.encode_certificate /etc/pki/my.crt pem /etc/pki/ca.crt",
  ),
  permissions: "all",
  params: {
    certificate: p.any(),
    encoding: p.str("pem"),
    append_certs: p.any(null),
    private_key: p.any(null),
    private_key_passphrase: p.str(null),
    pkcs12_passphrase: p.str(null),
    pkcs12_encryption_compat: p.any(false),
    pkcs12_friendlyname: p.str(null),
    raw: p.bool(false),
  },
  run: ({ certificate, encoding, append_certs, private_key, raw }) => {
    checkEncoding(encoding, CERTIFICATE_ENCODINGS);
    if (encoding === "der" && truthy(append_certs)) {
      throw new InvocationError("Cannot encode a certificate chain in DER");
    }
    if (truthy(private_key)) {
      throw new InvocationError("Embedding private keys is only supported for pkcs12 encoding");
    }
    const chain = asListIfTruthy(append_certs).map((one) => loadCertificate(referenceOf(one)));
    return certificateOut([loadCertificate(referenceOf(certificate)), ...chain], { encoding, raw });
  },
});

/** Has another minion make a certificate. */
async function remoteCertificate(
  given: ValueMap,
  { server, policy }: { readonly server: string; readonly policy: Value },
  context: JobContext,
): Promise<Certificate> {
  const kwargs = new Map(given);
  const key = given.get("private_key") ?? null;
  if (truthy(key)) {
    const passphrase = given.get("private_key_passphrase") ?? null;
    kwargs.set("public_key", spkiOf(loadPrivateKey(referenceOf(key), textOrNull(passphrase))));
  } else if (truthy(given.get("public_key") ?? null)) {
    kwargs.set("public_key", spkiOf(loadPublicKey(referenceOf(given.get("public_key") ?? null))));
  }
  kwargs.delete("private_key");
  kwargs.delete("private_key_passphrase");
  const csr = given.get("csr") ?? null;
  if (truthy(csr)) kwargs.set("csr", loadSigningRequest(referenceOf(csr)).found.der);
  const answer = await askRemote(server, { policy, kwargs, policyOnly: false }, context);
  try {
    return loadCertificate(referenceOf(answer));
  } catch (error) {
    if (!(error instanceof InvocationError)) throw error;
    throw new CommandError(`ca_server did not return a certificate: ${str(answer)}`, { cause: error });
  }
}

/** Makes and signs a certificate here; a copy of it may go to a folder. */
export async function localCertificate(given: ValueMap): Promise<Certificate> {
  const plan = planCertificate(given);
  const certificate = loadCertificate(await signCertificate(plan, text(given.get("digest") ?? null, "sha256")));
  const copies = given.get("copypath") ?? null;
  if (truthy(copies)) {
    const cn = truthy(given.get("prepend_cn") ?? null) ? attributeOf(certificate.subject, "CN") : undefined;
    // Another minion may have chosen the name: it leads to no other folder.
    const prefix = cn === undefined ? "" : `${cn.replaceAll("/", "_")}-`;
    const name = `${prefix}${certificate.serial.toString(16)}.crt`;
    writePem(pemOf("CERTIFICATE", certificate.der), `${str(copies)}/${name}`, true, "CERTIFICATE");
  }
  return certificate;
}

const CERTIFICATE_PARAMS = {
  ca_server: p.str(null),
  signing_policy: p.any(null),
  encoding: p.str("pem"),
  append_certs: p.any(null),
  pkcs12_passphrase: p.str(null),
  pkcs12_encryption_compat: p.any(false),
  pkcs12_friendlyname: p.str(null),
  path: p.str(null),
  overwrite: p.bool(true),
  raw: p.bool(false),
} as const satisfies Record<string, Parameter>;

/** The arguments of a certificate with today's names and Salt's defaults. */
function certificateArguments(given: ValueMap): ValueMap {
  const kwargs = currentNames(given);
  const algorithm = kwargs.get("algorithm");
  if (algorithm !== undefined) kwargs.set("digest", algorithm);
  kwargs.delete("algorithm");
  // In Salt 3009 it is 30.
  if (!kwargs.has("days_valid") && !kwargs.has("not_after")) kwargs.set("days_valid", 365);
  return kwargs;
}

export const create_certificate: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Make a certificate. Returns it, or with \`path\` what was written.

ca_server
    A minion that signs the certificate, by \`signing_policy\`; default: this minion signs it.

signing_policy
    The name of a policy in \`x509_signing_policies\` of the pillar or the configuration; its values override the arguments.

encoding : pem
    pem, der, pkcs7_pem or pkcs7_der.

append_certs
    Certificates that follow it.

path, overwrite, raw
    The file to write, whether an existing one is overwritten, and whether bytes are returned.

signing_private_key, signing_private_key_passphrase, signing_cert
    The key and certificate that sign it. Without a certificate, it is self-signed.

private_key, private_key_passphrase, public_key, csr
    The key that the certificate is for: one of these.

subject, C, ST, L, STREET, O, OU, CN, MAIL, SN, GN, UID, SERIALNUMBER
    The name: a text as in RFC 4514, a list of parts or a map; or the parts as arguments.

serial_number, not_before, not_after, days_valid, digest
    The number (default: random), times as \`2026-12-31 23:59:59\` in UTC, days (default: 365), and the digest (sha256).

copypath, prepend_cn
    A directory for a copy that is named by the serial number, and whether the common name is put before it.

Extensions are arguments of their names: basicConstraints, keyUsage, extendedKeyUsage, subjectKeyIdentifier,
authorityKeyIdentifier, issuerAltName, authorityInfoAccess, subjectAltName, crlDistributionPoints, certificatePolicies,
policyConstraints, inhibitAnyPolicy, nameConstraints, noCheck, tlsfeature.`,
    "x509.create_certificate signing_private_key='/etc/pki/myca.key' CN='www.example.com'",
  ),
  permissions: "all",
  params: CERTIFICATE_PARAMS,
  varKwargs: "kwargs",
  run: async ({ ca_server, signing_policy, encoding, append_certs, path, overwrite, raw }, context, { kwargs }) => {
    const given = certificateArguments(kwargs);
    checkEncoding(encoding, CERTIFICATE_ENCODINGS);
    checkDigest(text(given.get("digest") ?? null, "sha256"));
    if (encoding === "der" && truthy(append_certs)) {
      throw new InvocationError("Cannot encode a certificate chain in DER");
    }
    if (!given.has("signing_private_key") && !truthy(ca_server)) {
      throw new InvocationError("Creating a certificate locally at least requires a signing private key.");
    }
    if (truthy(path) && !overwrite && existsOrThrow(path ?? "")) {
      return `The file at ${path} exists and overwrite was set to false`;
    }
    if (truthy(ca_server) && signing_policy === null) {
      throw new InvocationError("signing_policy must be specified to request a certificate from a remote ca_server");
    }
    const certificate = ca_server !== null && ca_server !== ""
      ? await remoteCertificate(given, { server: ca_server, policy: signing_policy }, context)
      : await localCertificate(withPolicy(await localPolicy(signing_policy, context), given));
    const chain = asListIfTruthy(append_certs).map((one) => loadCertificate(referenceOf(one)));
    const out = certificateOut([certificate, ...chain], { encoding, raw: truthy(path) || raw });
    if (path === null) return out;
    const bytes = out instanceof Uint8Array ? out : new TextEncoder().encode(out);
    if (encoding === "pem") return writePem(new TextDecoder().decode(bytes), path, overwrite, "CERTIFICATE");
    writeWithUmask(path, bytes);
    return `Certificate written to ${path}`;
  },
});

export const create_certificate_ssh: ModuleFunction<JobContext> = create_certificate;

export const create_crl: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Make a revocation list. Returns it, or with \`path\` what was written.

signing_private_key, signing_private_key_passphrase, signing_cert
    The key and certificate that sign it.

revoked
    A list of maps: certificate or serial_number, not_after, revocation_date, extensions (CRLReason, invalidityDate,
    certificateIssuer).

include_expired : False
    Whether certificates that have expired are in it.

days_valid : 100, digest : sha256, encoding : pem
    Its validity in days, the digest, and pem or der.

extensions
    A map: authorityKeyIdentifier, authorityInfoAccess, cRLNumber, deltaCRLIndicator, freshestCRL, issuerAltName,
    issuingDistributionPoint.`,
    "x509.create_crl signing_cert=/etc/pki/ca.crt signing_private_key=/etc/pki/ca.key revoked=\"[{'certificate': '/etc/pki/certs/www1.crt'}]\"",
  ),
  permissions: "all",
  params: {
    signing_private_key: p.any(),
    revoked: p.any(),
    signing_cert: p.any(null),
    signing_private_key_passphrase: p.str(null),
    include_expired: p.any(false),
    days_valid: p.any(null),
    digest: p.str("sha256"),
    encoding: p.str("pem"),
    extensions: p.any(null),
    path: p.str(null),
    raw: p.bool(false),
  },
  varKwargs: "kwargs",
  run: async ({ digest, encoding, path, raw, ...given }, context, { kwargs }) => {
    refuseUnknown(kwargs, ["text"]);
    const entries = revokedEntries(given.revoked);
    checkEncoding(encoding, PLAIN_ENCODINGS);
    checkDigest(digest);
    const fields = new Map<Value, Value>(Object.entries({
      ...given,
      revoked: entries,
      days_valid: given.days_valid ?? 100,
    }));
    const der = await signList(planList(fields, (line) => context.log("warning", line)), digest);
    if (path === null) return encodeDocument(der, { encoding, label: "X509 CRL", raw });
    return writeDocument(der, path, {
      encoding,
      label: "X509 CRL",
      kind: "X509 CRL",
      message: `CRL written to ${path}`,
    });
  },
});

/** @throws {InvocationError} For unknown arguments. */
function refuseUnknown(kwargs: ValueMap, ignored: readonly string[]): void {
  const unknown = [...kwargs.keys()].map(str).filter((name) => !ignored.includes(name) && !name.startsWith("_"));
  if (unknown.length > 0) {
    throw new InvocationError(`Unrecognized keyword arguments: [${unknown.map((name) => `'${name}'`).join(", ")}]`);
  }
}

export const encode_crl: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a revocation list as pem or der (base64, or bytes with `raw`).",
    "x509.encode_crl /etc/pki/my.crl der",
  ),
  permissions: "all",
  params: { crl: p.any(), encoding: p.str("pem"), raw: p.bool(false) },
  run: ({ crl, encoding, raw }) => {
    checkEncoding(encoding, PLAIN_ENCODINGS);
    return encodeDocument(loadRevocationList(referenceOf(crl)).found.der, { encoding, label: "X509 CRL", raw });
  },
});

export const create_csr: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Make a signing request. Returns it, or with \`path\` what was written. The name and the extensions are given as for
x509.create_certificate.

private_key, private_key_passphrase
    The key of the request.

digest : sha256, encoding : pem
    The digest, and pem or der.`,
    "x509.create_csr private_key='/etc/pki/myca.key' CN='My Cert'",
  ),
  permissions: "all",
  params: {
    private_key: p.any(),
    private_key_passphrase: p.str(null),
    digest: p.str("sha256"),
    encoding: p.str("pem"),
    path: p.str(null),
    raw: p.bool(false),
  },
  varKwargs: "kwargs",
  run: async ({ private_key, private_key_passphrase, digest, encoding, path, raw }, _context, { kwargs }) => {
    const used = text(kwargs.get("algorithm") ?? null, digest);
    const given = currentNames(kwargs);
    checkEncoding(encoding, PLAIN_ENCODINGS);
    checkDigest(used);
    given.set("private_key", private_key).set("private_key_passphrase", private_key_passphrase);
    const label = "CERTIFICATE REQUEST";
    const der = await signRequest(planRequest(given), used);
    if (path === null) return encodeDocument(der, { encoding, label, raw });
    return writeDocument(der, path, { encoding, label, kind: label, message: `CSR written to ${path}` });
  },
});

export const encode_csr: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a signing request as pem or der (base64, or bytes with `raw`).",
    "x509.encode_csr /etc/pki/my.csr der",
  ),
  permissions: "all",
  params: { csr: p.any(), encoding: p.str("pem"), raw: p.bool(false) },
  run: ({ csr, encoding, raw }) => {
    checkEncoding(encoding, PLAIN_ENCODINGS);
    return encodeDocument(loadSigningRequest(referenceOf(csr)).found.der, {
      encoding,
      label: "CERTIFICATE REQUEST",
      raw,
    });
  },
});

/**
 * A new private key.
 * @throws {InvocationError} For an algorithm or a size that there is not.
 */
function newKey(algo: string, keysize: Value): KeyObject {
  const { generateKeyPairSync } = nodeBuiltin("node:crypto");
  const size = truthy(keysize) ? toNumber(keysize) ?? 0 : undefined;
  switch (algo) {
    case "rsa":
      if (![2048, 3072, 4096].includes(size ?? 2048)) {
        throw new InvocationError("RSA key size must be either 2048, 3072 or 4096 bits.");
      }
      return generateKeyPairSync("rsa", { modulusLength: size ?? 2048 }).privateKey;
    case "ec":
      if (![256, 384, 521].includes(size ?? 256)) {
        throw new InvocationError("EC key size must be either 256, 384, 521 bits.");
      }
      return generateKeyPairSync("ec", { namedCurve: `P-${size ?? 256}` }).privateKey;
    case "ed25519":
      return generateKeyPairSync("ed25519").privateKey;
    case "ed448":
      return generateKeyPairSync("ed448").privateKey;
    default:
      throw new InvocationError(
        `Invalid algorithm specified for generating private key: ${algo}. Valid: rsa, ec, ed25519, ed448`,
      );
  }
}

/** A private key as PKCS#8, encrypted if there is a passphrase. */
function keyDer(key: KeyObject, passphrase: string | null): { readonly der: Uint8Array; readonly label: string } {
  if (passphrase === null) {
    return { der: new Uint8Array(key.export({ type: "pkcs8", format: "der" })), label: "PRIVATE KEY" };
  }
  const der = key.export({ type: "pkcs8", format: "der", cipher: "aes-256-cbc", passphrase });
  return { der: new Uint8Array(der), label: "ENCRYPTED PRIVATE KEY" };
}

export const create_private_key: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Make a private key. Returns it, or with \`path\` what was written.

algo : rsa
    rsa, ec, ed25519 or ed448.

keysize
    2048 (default), 3072 or 4096 bits of RSA; 256 (default), 384 or 521 of curves.

passphrase, encoding : pem
    The passphrase to encrypt it with, and pem or der.`,
    "x509.create_private_key algo=ec keysize=384",
  ),
  permissions: "all",
  params: {
    algo: p.str("rsa"),
    keysize: p.any(null),
    passphrase: p.str(null),
    encoding: p.str("pem"),
    pkcs12_encryption_compat: p.any(false),
    path: p.str(null),
    raw: p.bool(false),
  },
  varKwargs: "kwargs",
  run: ({ algo, keysize, passphrase, encoding, path, raw }, _context, { kwargs }) => {
    refuseUnknown(kwargs, ["bits", "cipher", "verbose", "text"]);
    checkEncoding(encoding, KEY_ENCODINGS);
    const { der, label } = keyDer(newKey(algo, kwargs.get("bits") ?? keysize), passphrase);
    if (path === null) return encodeDocument(der, { encoding, label, raw });
    return writeDocument(der, path, {
      encoding,
      label,
      kind: "(?:(RSA|ENCRYPTED) )?PRIVATE KEY",
      message: null,
      mode: 0o600,
    });
  },
});

export const encode_private_key: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a private key as pem or der (base64, or bytes with `raw`). `private_key_passphrase` decrypts it, `passphrase` encrypts the\n" +
      "result. Containers of PKCS#12 are not written.",
    "x509.encode_private_key /etc/pki/my.key der",
  ),
  permissions: "all",
  params: {
    private_key: p.any(),
    encoding: p.str("pem"),
    passphrase: p.str(null),
    private_key_passphrase: p.str(null),
    pkcs12_encryption_compat: p.any(false),
    raw: p.bool(false),
  },
  run: ({ private_key, encoding, passphrase, private_key_passphrase, raw }) => {
    checkEncoding(encoding, KEY_ENCODINGS);
    const { der, label } = keyDer(loadPrivateKey(referenceOf(private_key), private_key_passphrase), passphrase);
    return encodeDocument(der, { encoding, label, raw });
  },
});
