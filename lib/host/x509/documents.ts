/**
 * Certificates, signing requests and revocation lists as they are read: the fields that Salt shows and compares.
 * Source: RFC 5280 sections 4.1 and 5.1, RFC 2986.
 * @module
 */

import {
  bitBytes,
  contextTag,
  type Der,
  DerError,
  expectTag,
  readChildren,
  readDer,
  readDerInteger,
  readOid,
  readTime,
  TAG,
} from "./der.ts";
import { type Extension, readExtensions } from "./extension_texts.ts";
import { type Name, readName } from "./names.ts";
import { EC_KEY, ED25519, ED448, findDigest, RSA_KEY, RSA_PSS } from "./oids.ts";

/** The signed parts of a document and its signature. */
export interface SignedDocument {
  /** The whole document. */
  readonly der: Uint8Array;
  /** The signed bytes: DER without the signature algorithm and the signature. */
  readonly signedPart: Uint8Array;
  /** The signature, without the count of unused bits. */
  readonly signature: Uint8Array;
  /** The identifier of the signature algorithm. */
  readonly algorithm: string;
  /** Node's name of the digest; `undefined`: there is none, as with Ed25519. */
  readonly digest: string | undefined;
  readonly extensions: readonly Extension[];
}

/** The subject and its public key. */
export interface CertificateSubject {
  readonly subject: Name;
  /** The subject as DER. */
  readonly subjectDer: Uint8Array;
  /** The public key: SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
}

export interface Certificate extends SignedDocument, CertificateSubject {
  /** 1 to 3. */
  readonly version: number;
  readonly serial: bigint;
  readonly issuer: Name;
  readonly issuerDer: Uint8Array;
  /** Milliseconds since 1970, as all times here. */
  readonly notBefore: number;
  readonly notAfter: number;
}

export interface SigningRequest extends SignedDocument, CertificateSubject {}

/** One revoked certificate. */
export interface Revoked {
  readonly serial: bigint;
  readonly date: number;
  readonly extensions: readonly Extension[];
}

export interface RevocationList extends SignedDocument {
  readonly issuer: Name;
  readonly lastUpdate: number;
  /** `undefined`: the list does not say. */
  readonly nextUpdate: number | undefined;
  readonly revoked: readonly Revoked[];
}

/** The kind of a key; `null` for kinds that Salt does not support. */
export interface KeyKind {
  readonly type: "rsa" | "ec" | "ed25519" | "ed448" | null;
  /** In bits; `null` where Salt shows none. */
  readonly size: number | null;
}

const CURVE_BITS: Readonly<Record<string, number>> = {
  "1.2.840.10045.3.1.1": 192,
  "1.3.132.0.33": 224,
  "1.2.840.10045.3.1.7": 256,
  "1.3.132.0.10": 256,
  "1.3.132.0.34": 384,
  "1.3.132.0.35": 521,
  "1.3.36.3.3.2.8.1.1.7": 256,
  "1.3.36.3.3.2.8.1.1.11": 384,
  "1.3.36.3.3.2.8.1.1.13": 512,
};

/**
 * The kind of key in a SubjectPublicKeyInfo.
 * @throws {DerError} If it is none.
 */
export function keyKind(spki: Uint8Array): KeyKind {
  const [algorithm, bits] = readChildren(readDer(spki), TAG.sequence);
  const [type, parameters] = readChildren(algorithm, TAG.sequence);
  switch (readOid(type)) {
    case RSA_KEY: {
      const [modulus] = readChildren(readDer(bitBytes(bits)), TAG.sequence);
      return { type: "rsa", size: readDerInteger(modulus).toString(2).length };
    }
    case EC_KEY:
      return { type: "ec", size: CURVE_BITS[readOid(expectTag(parameters, TAG.oid))] ?? null };
    case ED25519:
      return { type: "ed25519", size: null };
    case ED448:
      return { type: "ed448", size: null };
    default:
      return { type: null, size: null };
  }
}

const PSS_DIGESTS: Readonly<Record<string, string>> = {
  "1.3.14.3.2.26": "sha1",
  "2.16.840.1.101.3.4.2.4": "sha224",
  "2.16.840.1.101.3.4.2.1": "sha256",
  "2.16.840.1.101.3.4.2.2": "sha384",
  "2.16.840.1.101.3.4.2.3": "sha512",
};

/** @throws {DerError} If there are more values than the document has. */
function noneAfter(parts: readonly Der[], count: number): void {
  if (parts.length > count) throw new DerError("More values than expected");
}

function algorithmOf(value: Der): Pick<SignedDocument, "algorithm" | "digest"> {
  const parts = readChildren(value, TAG.sequence);
  noneAfter(parts, 2);
  const [type, parameters] = parts;
  const algorithm = readOid(expectTag(type, TAG.oid));
  if (algorithm !== RSA_PSS) return { algorithm, digest: findDigest(algorithm) };
  const hash = readChildren(expectTag(parameters, TAG.sequence)).find(({ tag }) => tag === contextTag(0, true));
  const digest = hash === undefined ? "sha1" : PSS_DIGESTS[readOid(readChildren(readDer(hash.body))[0])];
  return { algorithm, digest };
}

/** The three parts of what is signed. */
function signedParts(
  bytes: Uint8Array,
): { readonly parts: Der[]; readonly common: Omit<SignedDocument, "extensions"> } {
  const outer = readChildren(readDer(bytes), TAG.sequence);
  noneAfter(outer, 3);
  const [inner, algorithm, signature] = outer;
  const common = {
    der: bytes,
    signedPart: expectTag(inner, TAG.sequence).whole,
    signature: bitBytes(expectTag(signature, TAG.bitString)),
    ...algorithmOf(expectTag(algorithm, TAG.sequence)),
  };
  return { parts: readChildren(inner), common };
}

/**
 * A SubjectPublicKeyInfo: an algorithm and the bits of the key.
 * @throws {DerError} If it is none.
 */
function publicKeyInfo(value: Der | undefined): Uint8Array {
  const info = expectTag(value, TAG.sequence);
  const parts = readChildren(info);
  noneAfter(parts, 2);
  const [algorithm, bits] = parts;
  algorithmOf(expectTag(algorithm, TAG.sequence));
  bitBytes(expectTag(bits, TAG.bitString));
  return info.whole;
}

function extensionsIn(parts: readonly Der[], n: number): Extension[] {
  const element = parts.find(({ tag }) => tag === contextTag(n, true));
  return element === undefined ? [] : readExtensions(readDer(element.body));
}

/** @throws {DerError} If the bytes are no certificate. */
export function readCertificate(bytes: Uint8Array): Certificate {
  const { parts, common } = signedParts(bytes);
  const versioned = parts[0]?.tag === contextTag(0, true);
  const version = versioned ? Number(readDerInteger(expectTag(readDer(parts[0].body), TAG.integer))) + 1 : 1;
  if (version < 1 || version > 3) throw new DerError(`${version - 1} is not a valid X509 version`);
  const [serial, algorithm, issuer, validity, subject, spki, ...rest] = versioned ? parts.slice(1) : parts;
  algorithmOf(algorithm);
  // Two identifiers, which nobody uses, and the extensions.
  for (const { tag } of rest) {
    if (![contextTag(1, false), contextTag(2, false), contextTag(3, true)].includes(tag)) {
      throw new DerError(`Tag ${tag} behind the public key`);
    }
  }
  const [notBefore, notAfter] = readChildren(expectTag(validity, TAG.sequence));
  return {
    ...common,
    version,
    serial: readDerInteger(expectTag(serial, TAG.integer)),
    issuer: readName(issuer),
    issuerDer: issuer.whole,
    notBefore: readTime(notBefore),
    notAfter: readTime(notAfter),
    subject: readName(subject),
    subjectDer: subject.whole,
    spki: publicKeyInfo(spki),
    extensions: extensionsIn(rest, 3),
  };
}

/** The attribute of requests that holds extensions. */
export const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";

/** A signing request with an invalid version; M2Crypto, which Salt used before, wrote such requests. */
export class RequestVersionError extends DerError {}

/** @throws {DerError} If the bytes are no signing request. */
export function readSigningRequest(bytes: Uint8Array): SigningRequest {
  const { parts, common } = signedParts(bytes);
  const [version, subject, spki, attributes] = parts;
  const number = readDerInteger(expectTag(version, TAG.integer));
  if (number !== 0n) throw new RequestVersionError(`${number} is not a valid CSR version`);
  let extensions: Extension[] = [];
  for (const attribute of attributes === undefined ? [] : readChildren(attributes)) {
    const [type, values] = readChildren(attribute, TAG.sequence);
    if (readOid(type) === EXTENSION_REQUEST) extensions = readExtensions(readChildren(values)[0]);
  }
  return {
    ...common,
    subject: readName(subject),
    subjectDer: subject.whole,
    spki: publicKeyInfo(spki),
    extensions,
  };
}

/** @throws {DerError} If the bytes are no revocation list. */
export function readRevocationList(bytes: Uint8Array): RevocationList {
  const { parts, common } = signedParts(bytes);
  const [, issuer, lastUpdate, ...rest] = parts[0]?.tag === TAG.integer ? parts.slice(1) : parts;
  const next = rest.find(({ tag }) => tag === TAG.utcTime || tag === TAG.generalizedTime);
  const revoked = rest.find(({ tag }) => tag === TAG.sequence);
  return {
    ...common,
    issuer: readName(issuer),
    lastUpdate: readTime(lastUpdate),
    nextUpdate: next === undefined ? undefined : readTime(next),
    revoked: revoked === undefined ? [] : readChildren(revoked).map((entry) => {
      const [serial, date, extensions] = readChildren(entry, TAG.sequence);
      return {
        serial: readDerInteger(serial),
        date: readTime(date),
        extensions: extensions === undefined ? [] : readExtensions(extensions),
      };
    }),
    extensions: extensionsIn(rest, 0),
  };
}
