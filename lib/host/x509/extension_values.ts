/**
 * Extensions, built from Salt's arguments.
 * Source: RFC 5280 section 4.2 and 5; Salt 3008.3 `salt/utils/x509.py` EXTENSION_BUILDERS.
 * @module
 */

import {
  contextTag,
  der,
  encodeBoolean,
  encodeInteger,
  encodeOid,
  encodeSequence,
  encodeTime,
  namedBits,
  TAG,
} from "./der.ts";
import {
  distributionPoints,
  type ExtensionValue,
  freshestList,
  inhibitAnyPolicy,
  issuingPoint,
  nameConstraints,
  policies,
  policyConstraints,
} from "./distribution_values.ts";
import type { Certificate } from "./documents.ts";
import {
  type Extension,
  keyBits,
  keyIdentifier,
  rawNames,
  REASON_CODES,
  TLS_FEATURES,
  USAGES,
} from "./extension_texts.ts";
import { confWords, givenNames, knownDate, mentions, parseExtensionWords, wholeNumber } from "./extension_words.ts";
import { checkedOid, generalName, splitName } from "./general_names.ts";
import { ACCESS_OIDS, ENTRY_EXTENSION_OIDS, EXTENSION_OIDS, USAGE_OIDS } from "./oids.ts";
import { hashBytes } from "#lib/crypto/hash.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { asList, listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, repr, str, truthy, type Value } from "#lib/values/value.ts";

/**
 * The subject and issuer of the certificate of an extension, as far as they are known. Keys are SubjectPublicKeyInfo.
 */
export interface Parties {
  readonly subjectKey?: Uint8Array;
  readonly issuer?: Certificate;
  readonly issuerKey?: Uint8Array;
}

type Maker = (argument: Value, parties: Parties) => ExtensionValue;

const basicConstraints: Maker = (argument) => {
  const words = typeof argument === "string" ? confWords(argument.toLowerCase()) : undefined;
  const values: ReadonlyMap<Value, Value> = words !== undefined
    ? new Map<Value, Value>(words.pairs)
    : mapOrEmpty(argument);
  const ca = values.get("ca");
  if (ca === undefined) {
    throw new InvocationError(
      words === undefined
        ? "Undefined required key for basicConstraints: 'ca'"
        : "Invalid configuration for basicContraints: 'ca'",
    );
  }
  const isCa = words === undefined ? ca : ca === "true";
  if (typeof isCa !== "boolean") throw new InvocationError("ca must be a boolean value");
  const length = values.get("pathlen") ?? null;
  if (length !== null && !isCa) throw new InvocationError("path_length must be None when ca is False");
  const parts = [
    ...isCa ? [encodeBoolean(true)] : [],
    ...length === null ? [] : [encodeInteger(pathLength(length, words !== undefined))],
  ];
  const critical = words === undefined ? truthy(values.get("critical") ?? false) : words.critical;
  return { value: encodeSequence(...parts), critical };
};

/** @param isText Whether it comes from a configuration's line: in a map it is an int. */
function pathLength(length: Value, isText: boolean): bigint {
  const read = isText && /^\s*[+-]?\d+\s*$/.test(str(length)) ? BigInt(str(length)) : length;
  if (isText && typeof read === "string") {
    throw new InvocationError(
      `Invalid configuration for basicContraints: invalid literal for int() with base 10: ${repr(length)}`,
    );
  }
  return wholeNumber(typeof read === "string" ? -1 : read, "path_length", " or None");
}

const keyUsage: Maker = (argument) => {
  const bits = USAGES.flatMap((word, n) => mentions(argument, word) ? [n] : []);
  if (!bits.includes(4) && (bits.includes(7) || bits.includes(8))) {
    throw new InvocationError("encipher_only and decipher_only can only be true when key_agreement is true");
  }
  return { value: namedBits(bits), critical: mentions(argument, "critical") };
};

const extendedKeyUsage: Maker = (argument) => {
  const words = typeof argument === "string" ? confWords(argument) : undefined;
  const list: Value[] = words !== undefined ? words.pairs.map(([word]) => word) : asList(argument);
  const usages = list.filter((one) => one !== "critical").map((one) => {
    const word = str(one);
    return encodeOid(Object.hasOwn(USAGE_OIDS, word) ? USAGE_OIDS[word] : checkedOid(word));
  });
  return {
    value: encodeSequence(...usages),
    critical: words === undefined ? mentions(argument, "critical") : words.critical,
  };
};

/** The identifier of a key: the SHA-1 digest of its bits. */
export function identifierOf(spki: Uint8Array): Uint8Array {
  return hashBytes(keyBits(spki), "sha1");
}

const subjectKeyIdentifier: Maker = (argument, { subjectKey }) => {
  if (mentions(argument, "critical")) throw new InvocationError("subjectKeyIdentifier must be marked as non-critical");
  if (argument === "hash") {
    if (subjectKey === undefined) {
      throw new CommandError("Cannot calculate digest for subjectKeyIdentifier: missing pubkey");
    }
    return { value: der(TAG.octetString, identifierOf(subjectKey)), critical: false };
  }
  if (argument instanceof Uint8Array) return { value: der(TAG.octetString, argument), critical: false };
  if (typeof argument !== "string") throw new InvocationError("Value must be a (hex-)digest or pubkey");
  const digits = argument.replaceAll(":", "").replace(/\s/g, "");
  if (!/^(?:[0-9a-fA-F]{2})*$/.test(digits)) throw new InvocationError("Value must be precomputed hash");
  return { value: der(TAG.octetString, Uint8Array.fromHex(digits)), critical: false };
};

const authorityKeyIdentifier: Maker = (argument, { issuer, issuerKey }) => {
  if (mentions(argument, "critical")) {
    throw new InvocationError("authorityKeyIdentifier must be marked as non-critical");
  }
  if (issuer === undefined && issuerKey === undefined) {
    throw new CommandError("Need CA certificate or CA pubkey to calculate authorityKeyIdentifier");
  }
  const { words } = parseExtensionWords(argument);
  let keyid: Uint8Array | undefined;
  if (words.has("keyid")) {
    const own = issuer?.extensions.find(({ oid }) => oid === EXTENSION_OIDS.get("subjectKeyIdentifier"));
    const key = issuer?.spki ?? issuerKey;
    keyid = own !== undefined ? keyIdentifier(own) : key && identifierOf(key);
  }
  const parts = keyid === undefined ? [] : [der(contextTag(0, false), keyid)];
  if (words.get("issuer") === "always" || (words.has("issuer") && keyid === undefined)) {
    if (issuer !== undefined) {
      const name = der(contextTag(4, true), issuer.issuerDer);
      parts.push(der(contextTag(1, true), name), encodeInteger(issuer.serial, contextTag(2, false)));
    } else if (words.get("issuer") === "always") {
      throw new CommandError(
        "Could not add authority_cert_issuer and authority_cert_serial_number, but was set to always.",
      );
    }
  }
  return { value: encodeSequence(...parts), critical: false };
};

/** Names of an issuer, which may be copied from its certificate. */
const issuerNames: Maker = (argument, { issuer }) => {
  const { critical, names } = givenNames(argument);
  const copied = names.some(([kind, value]) => kind === "issuer" && value === "copy");
  if (!copied) return { value: encodeSequence(...names.map(generalName)), critical };
  if (issuer === undefined) throw new CommandError("Need CA certificate to copy to issuerAltName");
  const own = issuer.extensions.find(({ oid }) => oid === EXTENSION_OIDS.get("subjectAltName"));
  if (own === undefined) {
    throw new CommandError(
      "No <class 'cryptography.x509.extensions.SubjectAlternativeName'> extension was found",
    );
  }
  const others = names.filter(([kind]) => kind !== "issuer");
  return { value: encodeSequence(...rawNames(own), ...others.map(generalName)), critical };
};

const subjectAltName: Maker = (argument) => {
  const { critical, names } = givenNames(argument);
  return { value: encodeSequence(...names.map(generalName)), critical };
};

const authorityInfoAccess: Maker = (argument) => {
  const pairs: (readonly [string, string])[] = typeof argument === "string"
    ? argument.split(",").map((one) => one.trim()).filter((one) => one !== "critical").map((one) => {
      const at = one.indexOf(";");
      return [one.slice(0, at), one.slice(at + 1)];
    })
    : asList(argument).flatMap((one) =>
      isMap(one)
        ? [...one].filter(([way]) => way !== "critical").map(([way, place]) => [str(way), str(place)] as const)
        : []
    );
  const descriptions = pairs.map(([way, place]) => {
    const oid = Object.hasOwn(ACCESS_OIDS, way) ? ACCESS_OIDS[way] : way;
    if (!/^[012](?:\.\d+)+$/.test(oid)) throw new CommandError(`Unknown access OID: ${way}`);
    return encodeSequence(encodeOid(oid), generalName(splitName(place)));
  });
  return { value: encodeSequence(...descriptions), critical: false };
};

const tlsfeature: Maker = (argument) => {
  const list = typeof argument === "string" ? argument.split(",").map((one) => one.trim()) : listOrEmpty(argument);
  const features = list.filter((one) => one !== "critical").map((one) => {
    const number = [...TLS_FEATURES].find(([, name]) => name === one)?.[0];
    if (number === undefined) throw new InvocationError(`There is no feature of TLS called ${str(one)}`);
    return encodeInteger(number);
  });
  return { value: encodeSequence(...features), critical: list.includes("critical") };
};

const cRLNumber: Maker = (argument) => {
  const number = /^\s*-?\d+\s*$/.test(str(argument)) ? BigInt(str(argument).trim()) : undefined;
  if (number === undefined) {
    throw new InvocationError("cRLNumber must be an integer and must be marked as non-critical");
  }
  return { value: encodeInteger(number), critical: false };
};

const deltaCRLIndicator: Maker = (argument) => {
  const numbers = str(argument).match(/\d+/g) ?? [];
  if (numbers.length !== 1) {
    throw new InvocationError("deltaCRLIndicator must contain a single integer pointing to a cRLNumber");
  }
  return { value: encodeInteger(BigInt(numbers[0])), critical: str(argument).includes("critical") };
};

const revocationReason: Maker = (argument) => {
  const words = typeof argument === "string" ? confWords(argument) : undefined;
  const list = words?.pairs.map(([word]): Value => word) ?? asList(argument);
  const reason = list.find((one) => one !== "critical") ?? null;
  const code = [...REASON_CODES].find(([, name]) => name === reason)?.[0];
  if (code === undefined) throw new InvocationError(`${repr(reason)} is not a valid ReasonFlags`);
  return { value: encodeInteger(code, TAG.enumerated), critical: words?.critical ?? mentions(argument, "critical") };
};

const invalidityDate: Maker = (argument) => {
  if (typeof argument !== "string") throw new InvocationError("invalidityDate must be a string");
  const critical = argument.startsWith("critical");
  const text = critical ? argument.slice(argument.indexOf(" ") + 1) : argument;
  try {
    return { value: encodeTime(knownDate(text), true), critical };
  } catch (error) {
    throw error instanceof CommandError ? new InvocationError(error.message) : error;
  }
};

function notThere(name: string): Maker {
  return () => {
    throw new InvocationError(`${name} is currently not implemented.`);
  };
}

const MAKERS: Readonly<Record<string, Maker>> = {
  basicConstraints,
  keyUsage,
  extendedKeyUsage,
  subjectKeyIdentifier,
  authorityKeyIdentifier,
  issuerAltName: issuerNames,
  certificateIssuer: issuerNames,
  authorityInfoAccess,
  subjectAltName,
  crlDistributionPoints: distributionPoints,
  freshestCRL: freshestList,
  issuingDistributionPoint: issuingPoint,
  certificatePolicies: policies,
  policyConstraints,
  inhibitAnyPolicy,
  nameConstraints,
  noCheck: (argument) => ({ value: der(TAG.null), critical: str(argument).includes("critical") }),
  tlsfeature,
  nsComment: notThere("nsComment"),
  nsCertType: notThere("nsCertType"),
  cRLNumber,
  deltaCRLIndicator,
  CRLReason: revocationReason,
  invalidityDate,
};

/**
 * Builds an extension from Salt's arguments.
 * @param name Salt's name of it.
 * @throws {CommandError | InvocationError} If the arguments do not fit.
 */
export function makeExtension(name: string, argument: Value, parties: Parties): Extension {
  if (!Object.hasOwn(MAKERS, name)) throw new CommandError(`Unknown extension ${name}`);
  return { oid: EXTENSION_OIDS.get(name) ?? ENTRY_EXTENSION_OIDS.get(name) ?? "", ...MAKERS[name](argument, parties) };
}
