/**
 * Certificates, requests, lists and public keys from what Salt's functions are given: PEM, DER, base64, hexadecimal
 * digits, the path of a file; certificates also in containers of PKCS#7. Source: Salt 3008.3 `salt/utils/x509.py`
 * load_cert, load_crl, load_csr, split_pems.
 * @module
 */

import {
  contextTag,
  der,
  DerError,
  encodeInteger,
  encodeOid,
  encodeSequence,
  expectTag,
  readChildren,
  readDer,
  readOid,
  setOf,
  TAG,
} from "./der.ts";
import {
  type Certificate,
  readCertificate,
  readRevocationList,
  readSigningRequest,
  RequestVersionError,
  type RevocationList,
  type SigningRequest,
} from "./documents.ts";
import { base64Bytes } from "#lib/crypto/base64.ts";
import { loadPrivateKey, loadPublicKey, referencedBytes } from "#lib/crypto/asymmetric_keys.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";
import { str, type Value } from "#lib/values/value.ts";
import type { KeyObject } from "node:crypto";

/** A text or bytes. */
export type Reference = string | Uint8Array;

/**
 * What an argument refers to.
 * @throws {InvocationError} If there is none.
 */
export function referenceOf(argument: Value): Reference {
  if (argument instanceof Uint8Array) return argument;
  if (argument !== null) return str(argument);
  throw new InvocationError(
    "Could not load provided source. You need to pass an existing file, (PEM|hex|base64)-encoded string or raw bytes.",
  );
}

/** Thrown for invalid input; Salt's DeserializationError. */
export class LoadError extends InvocationError {}

/** Thrown for a signing request with an invalid version. */
export class VersionError extends LoadError {}

/** How a document was encoded. */
export type Encoding = "pem" | "der" | "pkcs7_pem" | "pkcs7_der";

/** A certificate with the others of its input. */
export interface LoadedCertificate {
  readonly certificate: Certificate;
  readonly chain: readonly Certificate[];
  readonly encoding: Encoding;
}

/** The blocks of PEM in a text. */
function splitPems(text: string): string[] {
  const pems: string[] = [];
  let block: string[] = [];
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (line.trim() === "") continue;
    if (line.startsWith("-----BEGIN")) block = [];
    block.push(line);
    if (line.startsWith("-----END")) {
      pems.push(`${block.join("\n")}\n`);
      block = [];
    }
  }
  return pems;
}

/** The bytes of a block of PEM with one of these labels; `undefined` if it is none. */
function pemBytes(pem: string, labels: readonly string[]): Uint8Array | undefined {
  const match = /-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \1-----/.exec(pem);
  if (match === null || !labels.includes(match[1])) return undefined;
  return base64Bytes(match[2].replace(/\s/g, ""));
}

/** DER as PEM with lines of 64 letters. */
export function pemOf(label: string, der: Uint8Array): string {
  const lines = der.toBase64().replace(/.{64}(?=.)/g, "$&\n");
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof DerError || error instanceof TypeError) return undefined;
    throw error;
  }
}

const CERTIFICATE_LABELS = ["CERTIFICATE", "X509 CERTIFICATE"] as const;
const SIGNED_DATA = "1.2.840.113549.1.7.2";

/** The certificates in a PKCS#7 container. */
function pkcs7Certificates(bytes: Uint8Array): Certificate[] {
  const [type, content] = readChildren(readDer(bytes), TAG.sequence);
  if (readOid(expectTag(type, TAG.oid)) !== SIGNED_DATA) throw new DerError("No signed data");
  const parts = readChildren(readDer(expectTag(content, contextTag(0, true)).body), TAG.sequence);
  const certificates = parts.find(({ tag }) => tag === contextTag(0, true));
  const chain = certificates === undefined ? [] : readChildren(certificates).map(({ whole }) => readCertificate(whole));
  if (chain.length === 0) throw new DerError("No certificate");
  return chain;
}

/** A PKCS#7 container with certificates and no signed content. */
export function pkcs7Of(certificates: readonly Certificate[]): Uint8Array {
  const set = setOf(certificates.map((one) => one.der));
  const inner = readDer(set).body;
  const data = encodeSequence(
    encodeInteger(1),
    setOf([]),
    encodeSequence(encodeOid("1.2.840.113549.1.7.1")),
    der(contextTag(0, true), inner),
    setOf([]),
  );
  return encodeSequence(encodeOid(SIGNED_DATA), der(contextTag(0, true), data));
}

function fromPkcs7(certificates: Certificate[] | undefined, encoding: Encoding): LoadedCertificate | undefined {
  if (certificates === undefined) return undefined;
  const [certificate, ...chain] = certificates;
  return { certificate, chain, encoding };
}

/**
 * A certificate with its chain.
 * @throws {LoadError} If there is none.
 */
export function loadCertificateChain(reference: Reference): LoadedCertificate {
  const bytes = referencedBytes(reference);
  const text = new TextDecoder("latin1").decode(bytes);
  if (text.includes("-----BEGIN")) {
    const pems = splitPems(text);
    if (pems[0]?.includes("-----BEGIN PKCS7")) {
      const inner = pemBytes(pems[0], ["PKCS7"]);
      const chain = fromPkcs7(inner && orUndefined(() => pkcs7Certificates(inner)), "pkcs7_pem");
      if (chain === undefined) throw new LoadError("Could not load PEM-encoded PKCS#7 blob");
      return chain;
    }
    const all = pems.map((pem) => {
      const inner = pemBytes(pem, CERTIFICATE_LABELS);
      return inner && orUndefined(() => readCertificate(inner));
    });
    if (all[0] === undefined) throw new LoadError("Could not load PEM-encoded certificate.");
    return { certificate: all[0], chain: all.slice(1).filter((one) => one !== undefined), encoding: "pem" };
  }
  const certificate = orUndefined(() => readCertificate(bytes));
  if (certificate !== undefined) return { certificate, chain: [], encoding: "der" };
  const contained = fromPkcs7(orUndefined(() => pkcs7Certificates(bytes)), "pkcs7_der");
  if (contained !== undefined) return contained;
  throw new LoadError("Could not deserialize binary data, neither as DER nor PKCS#7, PKCS#12.");
}

/**
 * A certificate.
 * @throws {LoadError} If it is none.
 */
export function loadCertificate(reference: Reference): Certificate {
  return loadCertificateChain(reference).certificate;
}

/** Input that is either PEM or DER. */
function load<T>(
  reference: Reference,
  labels: readonly string[],
  read: (bytes: Uint8Array) => T,
  what: string,
): { readonly found: T; readonly encoding: "pem" | "der" } {
  const bytes = referencedBytes(reference);
  const text = new TextDecoder("latin1").decode(bytes);
  const encoding = text.includes("-----BEGIN") ? "pem" : "der";
  const inner = encoding === "der" ? bytes : splitPems(text).map((pem) => pemBytes(pem, labels)).find((one) => one);
  const found = inner === undefined ? undefined : orUndefined(() => read(inner));
  if (found === undefined) throw new LoadError(`Could not load ${encoding.toUpperCase()}-encoded ${what}.`);
  return { found, encoding };
}

/**
 * A revocation list.
 * @throws {LoadError} If it is none.
 */
export function loadRevocationList(reference: Reference): {
  readonly found: RevocationList;
  readonly encoding: "pem" | "der";
} {
  return load(reference, ["X509 CRL"], readRevocationList, "certificate revocation list");
}

function requestIn(bytes: Uint8Array): SigningRequest {
  try {
    return readSigningRequest(bytes);
  } catch (error) {
    throw error instanceof RequestVersionError ? new VersionError(error.message) : error;
  }
}

/**
 * A signing request.
 * @throws {LoadError} If it is none.
 */
export function loadSigningRequest(reference: Reference): {
  readonly found: SigningRequest;
  readonly encoding: "pem" | "der";
} {
  return load(
    reference,
    ["CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"],
    requestIn,
    "certificate signing request",
  );
}

/** The public key of a key, as SubjectPublicKeyInfo. */
export function spkiOf(key: KeyObject): Uint8Array {
  const { createPublicKey } = nodeBuiltin("node:crypto");
  const open = key.type === "private" ? createPublicKey(key) : key;
  return new Uint8Array(open.export({ type: "spki", format: "der" }));
}

/** A public key of its SubjectPublicKeyInfo. */
export function keyOfSpki(spki: Uint8Array): KeyObject {
  return loadPublicKey(spki);
}

/** The error text for a wrong passphrase. */
export const PASSPHRASE_ERRORS: readonly string[] = [
  "Bad decrypt - is the password correct?",
  "Private key is encrypted. Please provide a password.",
  "Private key is unencrypted. Please remove the password.",
];

/**
 * The public key of any document that has one: a public key, a certificate, a private key, a request.
 * @throws {CommandError} If it has none, or the passphrase of a private key is not right.
 */
export function publicKeyOf(reference: Reference, passphrase: string | null): Uint8Array {
  const ways: (() => Uint8Array)[] = [
    () => spkiOf(loadPublicKey(reference)),
    () => loadCertificate(reference).spki,
    () => spkiOf(loadPrivateKey(reference, passphrase)),
    () => loadSigningRequest(reference).found.spki,
  ];
  for (const way of ways) {
    try {
      return way();
    } catch (error) {
      if (!(error instanceof InvocationError || error instanceof CommandError)) throw error;
      if (PASSPHRASE_ERRORS.includes(error.message)) throw new CommandError(error.message, { cause: error });
    }
  }
  throw new CommandError("Could not load key as certificate, public key, private key or CSR");
}
