/**
 * Extensions as Salt shows them.
 * Source: RFC 5280 section 4.2 and 5; Salt 3008.3 `salt/utils/x509.py` render_extension and what it calls.
 * @module
 */

import { utcTime } from "#lib/text/calendar.ts";
import {
  bit,
  bitBytes,
  type Der,
  DerError,
  expectTag,
  readBoolean,
  readChildren,
  readDer,
  readDerInteger,
  readOid,
  readTime,
  TAG,
} from "./der.ts";
import { readGeneralName, readGeneralNames } from "./general_names.ts";
import { namePartText, readDerText, readNamePart } from "./names.ts";
import { ENTRY_EXTENSION_OIDS, EXTENSION_OIDS, shownName } from "./oids.ts";
import { int, map, type Value, type ValueMap } from "#lib/values/value.ts";

/** One extension. */
export interface Extension {
  readonly oid: string;
  readonly critical: boolean;
  /** Its value as DER. */
  readonly value: Uint8Array;
}

/**
 * The extensions that a SEQUENCE holds.
 * @throws {DerError} If it does not, or one is there twice.
 */
export function readExtensions(value: Der): Extension[] {
  const extensions = readChildren(value, TAG.sequence).map((one): Extension => {
    const [type, ...rest] = readChildren(one, TAG.sequence);
    if (rest.length > 2) throw new DerError("More values than expected");
    const critical = rest.length > 1 && readBoolean(expectTag(rest[0], TAG.boolean));
    return { oid: readOid(expectTag(type, TAG.oid)), critical, value: expectTag(rest.at(-1), TAG.octetString).body };
  });
  if (new Set(extensions.map(({ oid }) => oid)).size < extensions.length) {
    throw new DerError("Two extensions of one kind");
  }
  return extensions;
}

/** Bytes as `AB:01:…`. */
export function colonHex(bytes: Uint8Array | string): string {
  const digits = typeof bytes === "string" ? bytes : bytes.toHex();
  return (digits.length % 2 === 0 ? digits : `0${digits}`).toUpperCase().replace(/..(?=.)/g, "$&:");
}

/** A number as `AB:01:…`. */
export function numberHex(n: bigint): string {
  return n < 0n ? colonHex(`-${(-n).toString(16)}`) : colonHex(n.toString(16));
}

/** The key usages, by the number of the bit. */
export const USAGES = [
  "digitalSignature",
  "nonRepudiation",
  "keyEncipherment",
  "dataEncipherment",
  "keyAgreement",
  "keyCertSign",
  "cRLSign",
  "encipherOnly",
  "decipherOnly",
] as const;

/** Why something is revoked, by the number of its bit; bit 0 has no use. */
export const REASON_BITS: readonly string[] = [
  "unused",
  "keyCompromise",
  "cACompromise",
  "affiliationChanged",
  "superseded",
  "cessationOfOperation",
  "certificateHold",
  "privilegeWithdrawn",
  "aACompromise",
];

/** Why a certificate is revoked, by the code of an entry of a list. */
export const REASON_CODES: ReadonlyMap<number, string> = new Map([
  [0, "unspecified"],
  [1, "keyCompromise"],
  [2, "cACompromise"],
  [3, "affiliationChanged"],
  [4, "superseded"],
  [5, "cessationOfOperation"],
  [6, "certificateHold"],
  [8, "removeFromCRL"],
  [9, "privilegeWithdrawn"],
  [10, "aACompromise"],
]);

/** TLS features that a certificate can require, by number. */
export const TLS_FEATURES: ReadonlyMap<number, string> = new Map([[5, "status_request"], [17, "status_request_v2"]]);

type Shower = (value: Der) => ValueMap;

function shownNames(value: Der | undefined): string[] {
  return value === undefined ? [] : readGeneralNames(value).map(({ shown }) => shown);
}

/** The part `[n]` of a sequence. */
function part(parts: readonly Der[], n: number): Der | undefined {
  return parts.find(({ tag }) => (tag & 0x1f) === n && (tag & 0xc0) === 0x80);
}

function reasons(value: Der | undefined): string[] {
  if (value === undefined) return [];
  return REASON_BITS.filter((_name, n) => n > 0 && bit(value, n)).sort();
}

function pointNames(value: Der | undefined): { fullname: string[]; relativename: string | null } {
  const inner = value === undefined ? undefined : readDer(value.body);
  if (inner === undefined) return { fullname: [], relativename: null };
  const relative = (inner.tag & 0x1f) === 1;
  return {
    fullname: relative ? [] : shownNames(inner),
    relativename: relative ? namePartText(readNamePart(inner)) : null,
  };
}

const keyUsage: Shower = (value) => {
  expectTag(value, TAG.bitString);
  const set = USAGES.filter((_name, n) => bit(value, n));
  const agrees = set.includes("keyAgreement");
  const of = (name: typeof USAGES[number]) =>
    set.includes(name) && (agrees || !["encipherOnly", "decipherOnly"].includes(name));
  return map(Object.fromEntries([...USAGES].sort().map((name) => [name, of(name)])));
};

const basicConstraints: Shower = (value) => {
  const parts = readChildren(value, TAG.sequence);
  const ca = parts.find(({ tag }) => tag === TAG.boolean);
  const length = parts.find(({ tag }) => tag === TAG.integer);
  return map({
    ca: ca !== undefined && readBoolean(ca),
    pathlen: length === undefined ? null : int(readDerInteger(length)),
  });
};

const authorityKey: Shower = (value) => {
  const parts = readChildren(value, TAG.sequence);
  const [keyid, issuer, serial] = [0, 1, 2].map((n) => part(parts, n));
  const names = shownNames(issuer);
  return map({
    keyid: keyid === undefined || keyid.body.length === 0 ? null : colonHex(keyid.body),
    issuer: names.length > 0 ? names : null,
    issuer_sn: serial === undefined || readDerInteger(serial) === 0n ? null : numberHex(readDerInteger(serial)),
  });
};

const names: Shower = (value) => map({ value: shownNames(expectTag(value, TAG.sequence)) });

const access: Shower = (value) =>
  map({
    value: readChildren(value, TAG.sequence).map((one) => {
      const [method, place] = readChildren(one, TAG.sequence);
      const way = readOid(method);
      return new Map([[shownName(way) ?? way, readGeneralName(place).value]]);
    }),
  });

const points: Shower = (value) =>
  map({
    value: readChildren(value, TAG.sequence).map((one) => {
      const parts = readChildren(one, TAG.sequence);
      const { fullname, relativename } = pointNames(part(parts, 0));
      return map({ crlissuer: shownNames(part(parts, 2)), fullname, reasons: reasons(part(parts, 1)), relativename });
    }),
  });

const issuingPoint: Shower = (value) => {
  const parts = readChildren(value, TAG.sequence);
  const flag = (n: number) => {
    const element = part(parts, n);
    return element !== undefined && readBoolean(element);
  };
  const { fullname, relativename } = pointNames(part(parts, 0));
  return map({
    fullname,
    // The letters are Salt's.
    onysomereasons: reasons(part(parts, 3)),
    relativename,
    onlyuser: flag(1),
    onlyCA: flag(2),
    onlyAA: flag(5),
    indirectCRL: flag(4),
  });
};

function qualifier(value: Der): Value {
  const [type, content] = readChildren(value, TAG.sequence);
  if (readOid(type) === "1.3.6.1.5.5.7.2.1") return map({ practice_statement: readDerText(content) });
  const parts = readChildren(content, TAG.sequence);
  const reference = parts.find(({ tag }) => tag === TAG.sequence);
  const text = parts.find(({ tag }) => tag !== TAG.sequence);
  const [organization, numbers] = reference === undefined ? [] : readChildren(reference);
  return map({
    // The letters are Salt's.
    organizataion: organization === undefined ? null : readDerText(organization),
    notice_numbers: numbers === undefined ? null : readChildren(numbers).map((number) => int(readDerInteger(number))),
    explicit_text: text === undefined ? null : readDerText(text),
  });
}

const policies: Shower = (value) =>
  map({
    value: readChildren(value, TAG.sequence).map((one) => {
      const [id, qualifiers] = readChildren(one, TAG.sequence);
      return new Map([[readOid(id), qualifiers === undefined ? [] : readChildren(qualifiers).map(qualifier)]]);
    }),
  });

const policyConstraints: Shower = (value) => {
  const parts = readChildren(value, TAG.sequence);
  const number = (n: number): Value => {
    const element = part(parts, n);
    return element === undefined ? null : int(readDerInteger(element));
  };
  return map({ inhibitPolicyMapping: number(1), requireExplicitPolicy: number(0) });
};

const nameConstraints: Shower = (value) => {
  const parts = readChildren(value, TAG.sequence);
  const trees = (n: number) => {
    const element = part(parts, n);
    return element === undefined
      ? []
      : readChildren(element).map((tree) => readGeneralName(readChildren(tree)[0]).shown);
  };
  return map({ excluded: trees(1), permitted: trees(0) });
};

const number: Shower = (value) => map({ value: int(readDerInteger(value)) });

const SHOWERS: Readonly<Record<string, Shower>> = {
  basicConstraints,
  keyUsage,
  extendedKeyUsage: (value) =>
    map({ value: readChildren(value, TAG.sequence).map((one) => shownName(readOid(one)) ?? readOid(one)) }),
  subjectKeyIdentifier: (value) => map({ value: colonHex(expectTag(value, TAG.octetString).body) }),
  authorityKeyIdentifier: authorityKey,
  issuerAltName: names,
  certificateIssuer: names,
  subjectAltName: names,
  authorityInfoAccess: access,
  crlDistributionPoints: points,
  freshestCRL: points,
  issuingDistributionPoint: issuingPoint,
  certificatePolicies: policies,
  policyConstraints,
  inhibitAnyPolicy: number,
  nameConstraints,
  noCheck: () => map({ value: true }),
  tlsfeature: (value) =>
    map({
      value: readChildren(value, TAG.sequence).map((one) => {
        const feature = Number(readDerInteger(one));
        return TLS_FEATURES.get(feature) ?? String(feature);
      }),
    }),
  cRLNumber: number,
  deltaCRLIndicator: number,
  CRLReason: (value) => map({ value: REASON_CODES.get(Number(readDerInteger(value))) ?? null }),
  invalidityDate: (value) => map({ value: utcTime(readTime(value)) }),
};

function showExtensions(extensions: readonly Extension[], known: ReadonlyMap<string, string>): ValueMap {
  const all: ValueMap = new Map();
  for (const [name, oid] of known) {
    const extension = extensions.find((one) => one.oid === oid);
    if (extension === undefined) continue;
    all.set(name, new Map([["critical", extension.critical], ...SHOWERS[name](readDer(extension.value))]));
  }
  return all;
}

/**
 * The extensions that Salt knows, by its names.
 * @throws {DerError} If one is not as it should be.
 */
export function shownExtensions(extensions: readonly Extension[]): ValueMap {
  return showExtensions(extensions, EXTENSION_OIDS);
}

/** Those of an entry of a revocation list. */
export function shownEntryExtensions(extensions: readonly Extension[]): ValueMap {
  return showExtensions(extensions, ENTRY_EXTENSION_OIDS);
}

/** The subject alternative names, unchanged, for a copy. */
export function rawNames(extension: Extension): Uint8Array[] {
  return readChildren(readDer(extension.value), TAG.sequence).map(({ whole }) => whole);
}

/** The number of a revocation list. */
export function listNumber(extension: Extension): bigint {
  return readDerInteger(readDer(extension.value));
}

/** The identifier of a subject's key. */
export function keyIdentifier(extension: Extension): Uint8Array {
  return expectTag(readDer(extension.value), TAG.octetString).body;
}

/** The part of a SubjectPublicKeyInfo that is hashed for the key identifier. */
export function keyBits(spki: Uint8Array): Uint8Array {
  return bitBytes(expectTag(readChildren(readDer(spki), TAG.sequence)[1], TAG.bitString));
}
