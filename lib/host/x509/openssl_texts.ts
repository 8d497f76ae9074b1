/**
 * Names and extensions of certificates as OpenSSL prints them.
 * Source: what pyOpenSSL 24.3 answers for certificates that OpenSSL 3 made; RFC 5280.
 * @module
 */

import { bit, expectTag, readBoolean, readChildren, readDer, readDerInteger, readOid, TAG } from "./der.ts";
import type { Der } from "./der.ts";
import { colonHex, type Extension } from "./extension_texts.ts";
import { readGeneralName } from "./general_names.ts";
import type { Name } from "./names.ts";
import { EXTENSION_OIDS } from "./oids.ts";

/** Short names of the attributes of names. */
const ATTRIBUTES: ReadonlyMap<string, string> = new Map([
  ["2.5.4.3", "CN"],
  ["2.5.4.4", "SN"],
  ["2.5.4.5", "serialNumber"],
  ["2.5.4.6", "C"],
  ["2.5.4.7", "L"],
  ["2.5.4.8", "ST"],
  ["2.5.4.9", "street"],
  ["2.5.4.10", "O"],
  ["2.5.4.11", "OU"],
  ["2.5.4.12", "title"],
  ["2.5.4.42", "GN"],
  ["0.9.2342.19200300.100.1.1", "UID"],
  ["0.9.2342.19200300.100.1.25", "DC"],
  ["1.2.840.113549.1.9.1", "emailAddress"],
]);

const USAGES = [
  "Digital Signature",
  "Non Repudiation",
  "Key Encipherment",
  "Data Encipherment",
  "Key Agreement",
  "Certificate Sign",
  "CRL Sign",
  "Encipher Only",
  "Decipher Only",
] as const;

/** By the last number of the identifier `1.3.6.1.5.5.7.3.N`. */
const PURPOSES: Readonly<Record<string, string>> = {
  1: "TLS Web Server Authentication",
  2: "TLS Web Client Authentication",
  3: "Code Signing",
  4: "E-mail Protection",
  8: "Time Stamping",
  9: "OCSP Signing",
};
const PURPOSE_ROOT = "1.3.6.1.5.5.7.3.";

/** The attributes of a name, in its order, each with its short name, or its identifier if it has none. */
export function nameAttributes(name: Name): [short: string, value: string][] {
  return name.flat().map(({ oid, value }) => [ATTRIBUTES.get(oid) ?? oid, value]);
}

function writeNames(value: Der): string {
  return readChildren(value).map((name) => {
    const { shown } = readGeneralName(name);
    if (name.tag === 0x81) return shown.replace(/^mail:/, "email:");
    if (name.tag !== 0x87) return shown;
    // IPv6 without leading zeros, and with all its groups.
    return name.body.length === 16
      ? `IP Address:${(name.body.toHex().match(/.{4}/g) ?? []).map((word) => word.replace(/^0{1,3}/, "")).join(":")}`
        .toUpperCase().replace("IP ADDRESS", "IP Address")
      : `IP Address:${shown.replace(/^IP:/, "")}`;
  }).join(", ");
}

function writeConstraints(value: Der): string {
  const parts = readChildren(value, TAG.sequence);
  const isAuthority = parts[0]?.tag === TAG.boolean && readBoolean(parts[0]);
  const length = parts.find(({ tag }) => tag === TAG.integer);
  return `CA:${isAuthority ? "TRUE" : "FALSE"}${length === undefined ? "" : `, pathlen:${readDerInteger(length)}`}`;
}

function writePurpose(oid: string): string {
  return oid.startsWith(PURPOSE_ROOT) ? PURPOSES[oid.slice(PURPOSE_ROOT.length)] ?? oid : oid;
}

const WRITERS: Readonly<Record<string, (value: Der) => string>> = {
  basicConstraints: writeConstraints,
  keyUsage: (value) => USAGES.filter((_, n) => bit(value, n)).join(", "),
  extendedKeyUsage: (value) => readChildren(value, TAG.sequence).map((one) => writePurpose(readOid(one))).join(", "),
  subjectKeyIdentifier: (value) => colonHex(expectTag(value, TAG.octetString).body),
  authorityKeyIdentifier: (value) => {
    const id = readChildren(value, TAG.sequence).find(({ tag }) => tag === 0x80);
    return id === undefined ? colonHex(value.body) : colonHex(id.body);
  },
  subjectAltName: writeNames,
  issuerAltName: writeNames,
};

/**
 * An extension as text: its name, and its value; the bytes of a value that has no text here, in hexadecimal digits.
 * @throws {DerError} If it is not as it should be.
 */
export function writeExtension({ oid, value }: Extension): { readonly name: string; readonly text: string } {
  const name = [...EXTENSION_OIDS].find(([, one]) => one === oid)?.[0] ?? oid;
  const text = Object.hasOwn(WRITERS, name) ? WRITERS[name](readDer(value)) : colonHex(value);
  return { name, text };
}
