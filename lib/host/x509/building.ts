/**
 * Builds certificates, signing requests and revocation lists from Salt's arguments, before they are signed. They can
 * also be compared with existing ones. Source: RFC 5280 sections 4.1 and 5.1, RFC 2986; Salt 3008.3
 * `salt/utils/x509.py` build_crt, build_csr, build_crl.
 * @module
 */

import {
  der,
  encodeBoolean,
  encodeInteger,
  encodeOid,
  encodeSequence,
  encodeTime,
  explicit,
  setOf,
  TAG,
} from "./der.ts";
import { type Certificate, EXTENSION_REQUEST, type Revoked } from "./documents.ts";
import type { Extension } from "./extension_texts.ts";
import { knownDate } from "./extension_words.ts";
import { makeExtension } from "./extension_values.ts";
import { isPair, signatureAlgorithm, signPart } from "./signing.ts";
import { loadCertificate, loadSigningRequest, referenceOf, spkiOf } from "./loading.ts";
import { encodeName, type Name, nameOf } from "./names.ts";
import {
  CERTIFICATE_EXTENSIONS,
  ENTRY_EXTENSION_OIDS,
  EXTENSION_OIDS,
  LIST_EXTENSIONS,
  NOT_OF_REQUESTS,
} from "./oids.ts";
import { loadPrivateKey, loadPublicKey } from "#lib/crypto/asymmetric_keys.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { textOrNull } from "#lib/values/shape.ts";
import { isInt, isMap, str, toNumber, truthy, typeName, type Value, type ValueMap } from "#lib/values/value.ts";
import type { KeyObject } from "node:crypto";

const DAY_MS = 86_400_000;

/** A certificate before it is signed. Times are milliseconds since 1970. */
export interface CertificatePlan {
  readonly serial: bigint;
  readonly subject: Name;
  readonly subjectDer: Uint8Array;
  readonly issuer: Name;
  readonly issuerDer: Uint8Array;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly spki: Uint8Array;
  readonly extensions: readonly Extension[];
  /** The certificate of the signing key; `undefined`: the certificate signs itself. */
  readonly signingCertificate: Certificate | undefined;
  /** `undefined`: another minion signs. */
  readonly signingKey: KeyObject | undefined;
}

/** A signing request before it is signed. */
export interface RequestPlan {
  readonly subject: Name;
  readonly extensions: readonly Extension[];
  readonly key: KeyObject;
}

/** A revocation list before it is signed. */
export interface ListPlan {
  /** `undefined`: no issuer; such a list cannot be signed. */
  readonly issuer: Certificate | undefined;
  readonly lastUpdate: number;
  readonly nextUpdate: number;
  readonly revoked: readonly Revoked[];
  readonly extensions: readonly Extension[];
  readonly key: KeyObject;
}

/** The text of an argument; `null` if it is not given. */
function textArgument(given: ValueMap, name: string): string | null {
  return textOrNull(given.get(name));
}

function argument(given: ValueMap, name: string): Value {
  return given.get(name) ?? null;
}

/**
 * A serial number that was given, or a new one of 159 bits.
 * @throws {CommandError} If it is none.
 */
export function serialNumber(given: Value): bigint {
  if (given === null) return BigInt(`0x${crypto.getRandomValues(new Uint8Array(20)).toHex()}`) >> 1n;
  if (isInt(given)) return BigInt(given);
  if (given instanceof Uint8Array) return BigInt(`0x${given.toHex() || "0"}`);
  const digits = typeof given === "string" ? given.replaceAll(":", "").replace(/\s/g, "") : "-";
  if (!/^(?:[0-9a-fA-F]{2})+$/.test(digits)) throw new CommandError(`Could not parse serial number ${str(given)}`);
  return BigInt(`0x${digits}`);
}

function privateKeyOf(given: ValueMap, name: string): KeyObject {
  return loadPrivateKey(referenceOf(argument(given, name)), textArgument(given, `${name}_passphrase`));
}

function subjectOf(given: ValueMap): Name {
  const subject = argument(given, "subject");
  return nameOf(truthy(subject) ? subject : given);
}

/** The public key of a certificate that is not self-signed. */
function subjectKey(given: ValueMap): Uint8Array {
  if (truthy(argument(given, "private_key"))) return spkiOf(privateKeyOf(given, "private_key"));
  if (truthy(argument(given, "public_key"))) return spkiOf(loadPublicKey(referenceOf(argument(given, "public_key"))));
  if (truthy(argument(given, "csr"))) return loadSigningRequest(referenceOf(argument(given, "csr"))).found.spki;
  throw new InvocationError(
    "This certificate is not self-signed (signing_cert is set) and thus needs public_key, private_key or csr to " +
      "derive public key to sign",
  );
}

function dateOf(given: ValueMap, name: string, otherwise: number): number {
  const date = argument(given, name);
  return truthy(date) ? knownDate(str(date)) : otherwise;
}

/**
 * A certificate.
 * @param given Salt's arguments by name; others are skipped.
 * @param remote Whether another minion has the signing key.
 * @throws {CommandError | InvocationError} If the arguments do not fit.
 */
export function planCertificate(given: ValueMap, remote = false): CertificatePlan {
  const signingKey = remote ? undefined : privateKeyOf(given, "signing_private_key");
  const serial = serialNumber(argument(given, "serial_number"));
  const csr = truthy(argument(given, "csr"))
    ? loadSigningRequest(referenceOf(argument(given, "csr"))).found
    : undefined;
  const signing = argument(given, "signing_cert");
  const signingCertificate = truthy(signing) ? loadCertificate(referenceOf(signing)) : undefined;
  if (signingCertificate === undefined && signingKey === undefined) {
    throw new CommandError("A certificate that signs itself needs its signing private key here");
  }
  const own = signingCertificate === undefined && signingKey !== undefined ? spkiOf(signingKey) : undefined;
  const spki = own ?? subjectKey(given);
  if (signingKey !== undefined && signingCertificate !== undefined && !isPair(signingCertificate.spki, signingKey)) {
    throw new InvocationError("Signing private key does not match the certificate's public key");
  }
  const subject = subjectOf(given);
  const subjectDer = encodeName(subject);
  const now = Date.now();
  const days = toNumber(argument(given, "days_valid") ?? undefined) ?? 30;
  const parties = { subjectKey: spki, issuer: signingCertificate, issuerKey: own };
  const extensions = CERTIFICATE_EXTENSIONS.flatMap((name) => {
    const value = argument(given, name);
    return value === null ? [] : [makeExtension(name, value, parties)];
  });
  const requested = (csr?.extensions ?? []).filter((one) => {
    const name = [...EXTENSION_OIDS].find(([, oid]) => oid === one.oid)?.[0];
    return name !== undefined && CERTIFICATE_EXTENSIONS.includes(name) && !NOT_OF_REQUESTS.includes(name) &&
      !extensions.some(({ oid }) => oid === one.oid);
  });
  return {
    serial,
    subject,
    subjectDer,
    issuer: signingCertificate?.subject ?? subject,
    issuerDer: signingCertificate?.subjectDer ?? subjectDer,
    notBefore: dateOf(given, "not_before", now),
    notAfter: dateOf(given, "not_after", now + days * DAY_MS),
    spki,
    extensions: [...extensions, ...inSaltsOrder(requested)],
    signingCertificate,
    signingKey,
  };
}

function inSaltsOrder(extensions: readonly Extension[]): Extension[] {
  return [...EXTENSION_OIDS.values()].flatMap((oid) => extensions.filter((one) => one.oid === oid));
}

function encodeExtensions(extensions: readonly Extension[]): Uint8Array {
  return encodeSequence(
    ...extensions.map((one) =>
      encodeSequence(encodeOid(one.oid), ...one.critical ? [encodeBoolean(true)] : [], der(TAG.octetString, one.value))
    ),
  );
}

/**
 * Signs a certificate.
 * @returns DER.
 * @throws {CommandError} Without a key, or for times and numbers that cannot be.
 */
export async function signCertificate(plan: CertificatePlan, digest: string): Promise<Uint8Array> {
  const { signingKey, serial, extensions } = plan;
  if (signingKey === undefined) throw new CommandError("There is no key to sign the certificate");
  if (plan.notAfter < plan.notBefore) {
    throw new CommandError("The not valid after date must be after the not valid before date.");
  }
  if (serial < 0n) throw new CommandError("Negative integers are not supported");
  const part = encodeSequence(
    explicit(0, encodeInteger(2)),
    encodeInteger(serial),
    signatureAlgorithm(signingKey, digest),
    plan.issuerDer,
    encodeSequence(encodeTime(plan.notBefore), encodeTime(plan.notAfter)),
    plan.subjectDer,
    plan.spki,
    ...extensions.length > 0 ? [explicit(3, encodeExtensions(extensions))] : [],
  );
  return await signPart(part, signingKey, digest);
}

/**
 * A signing request.
 * @param given Salt's arguments by name.
 * @throws {CommandError | InvocationError}
 */
export function planRequest(given: ValueMap): RequestPlan {
  const key = privateKeyOf(given, "private_key");
  const parties = { subjectKey: spkiOf(key) };
  const extensions = CERTIFICATE_EXTENSIONS.filter((name) => !NOT_OF_REQUESTS.includes(name) && given.has(name)).map(
    (name) => makeExtension(name, argument(given, name), parties),
  );
  return { subject: subjectOf(given), extensions, key };
}

/**
 * Signs a request.
 * @returns DER.
 */
export async function signRequest({ subject, extensions, key }: RequestPlan, digest: string): Promise<Uint8Array> {
  const attributes = extensions.length === 0
    ? []
    : [encodeSequence(encodeOid(EXTENSION_REQUEST), setOf([encodeExtensions(extensions)]))];
  const part = encodeSequence(encodeInteger(0), encodeName(subject), spkiOf(key), explicit(0, ...attributes));
  return await signPart(part, key, digest);
}

/** The entries of a revocation list in today's form, from any form that Salt accepts. */
export function revokedEntries(given: Value): ValueMap[] {
  if (!Array.isArray(given)) throw new InvocationError(`The revoked certificates are a list, not ${typeName(given)}`);
  return given.map((entry) => {
    if (!isMap(entry)) throw new InvocationError(`A revoked certificate is a dict, not ${typeName(entry)}`);
    const [inner] = [...entry.values()];
    const plain: ValueMap = entry.size === 1 && Array.isArray(inner)
      ? new Map(inner.filter(isMap).flatMap((one) => [...one]))
      : new Map(entry);
    if (!plain.has("reason")) return plain;
    const extensions = plain.get("extensions");
    plain.set(
      "extensions",
      new Map([...isMap(extensions) ? extensions : [], ["CRLReason", plain.get("reason") ?? null]]),
    );
    plain.delete("reason");
    return plain;
  });
}

function revokedOf(entry: ValueMap, { includeExpired, now, warn }: {
  readonly includeExpired: boolean;
  readonly now: number;
  readonly warn: (text: string) => void;
}): Revoked[] {
  const certificate = entry.has("certificate")
    ? loadCertificate(referenceOf(argument(entry, "certificate")))
    : undefined;
  const notAfter = certificate?.notAfter ??
    (entry.has("not_after") ? knownDate(str(argument(entry, "not_after"))) : null);
  if (certificate === undefined && !truthy(argument(entry, "serial_number"))) {
    throw new InvocationError("Need serial_number or certificate");
  }
  const serial = certificate?.serial ?? serialNumber(argument(entry, "serial_number"));
  if (notAfter !== null && !includeExpired && now > notAfter) return [];
  const date = entry.has("revocation_date") ? knownDate(str(argument(entry, "revocation_date"))) : now;
  const given = argument(entry, "extensions");
  const extensions = (isMap(given) ? [...given] : []).flatMap(([name, value]) => {
    if (ENTRY_EXTENSION_OIDS.has(str(name))) return [makeExtension(str(name), value, {})];
    warn(`Ignoring invalid CRL entry extension: ${str(name)}`);
    return [];
  });
  return [{ serial, date, extensions }];
}

/**
 * A revocation list.
 * @param warn Called with what is skipped.
 * @throws {CommandError | InvocationError}
 */
export function planList(given: ValueMap, warn: (text: string) => void): ListPlan {
  const signing = argument(given, "signing_cert");
  const issuer = truthy(signing) ? loadCertificate(referenceOf(signing)) : undefined;
  const key = privateKeyOf(given, "signing_private_key");
  if (issuer !== undefined && !isPair(issuer.spki, key)) {
    throw new InvocationError("Signing private key does not match the certificate's public key");
  }
  const now = Date.now();
  const options = { includeExpired: truthy(argument(given, "include_expired")), now, warn };
  const extensions = argument(given, "extensions");
  return {
    issuer,
    key,
    lastUpdate: now,
    nextUpdate: now + (toNumber(argument(given, "days_valid")) ?? 100) * DAY_MS,
    revoked: revokedEntries(argument(given, "revoked")).flatMap((entry) => revokedOf(entry, options)),
    extensions: (isMap(extensions) ? [...extensions] : []).flatMap(([name, value]) => {
      if (LIST_EXTENSIONS.includes(str(name))) return [makeExtension(str(name), value, { issuer })];
      warn(`Ignoring invalid CRL extension: ${str(name)}`);
      return [];
    }),
  };
}

/**
 * Signs a list.
 * @returns DER.
 * @throws {CommandError} If there is no issuer.
 */
export async function signList(plan: ListPlan, digest: string): Promise<Uint8Array> {
  if (plan.issuer === undefined) throw new CommandError("A CRL must have an issuer name");
  const { revoked, extensions } = plan;
  const entries = revoked.map((one) =>
    encodeSequence(
      encodeInteger(one.serial),
      encodeTime(one.date),
      ...one.extensions.length > 0 ? [encodeExtensions(one.extensions)] : [],
    )
  );
  const part = encodeSequence(
    encodeInteger(1),
    signatureAlgorithm(plan.key, digest),
    plan.issuer.subjectDer,
    encodeTime(plan.lastUpdate),
    encodeTime(plan.nextUpdate),
    ...entries.length > 0 ? [encodeSequence(...entries)] : [],
    ...extensions.length > 0 ? [explicit(0, encodeExtensions(extensions))] : [],
  );
  return await signPart(part, plan.key, digest);
}
