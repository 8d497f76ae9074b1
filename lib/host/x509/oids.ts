/**
 * Object identifiers of X.509 and the names that Salt and its library have for them.
 * Source: RFC 5280, RFC 4514; Salt 3008.3 `salt/utils/x509.py`; the names as `cryptography` shows them.
 * @module
 */

/** Parts of names, in the order in which Salt writes them. */
export const NAME_OIDS: ReadonlyMap<string, string> = new Map([
  ["C", "2.5.4.6"],
  ["ST", "2.5.4.8"],
  ["L", "2.5.4.7"],
  ["STREET", "2.5.4.9"],
  ["O", "2.5.4.10"],
  ["OU", "2.5.4.11"],
  ["CN", "2.5.4.3"],
  ["MAIL", "1.2.840.113549.1.9.1"],
  ["SN", "2.5.4.4"],
  ["GN", "2.5.4.42"],
  ["UID", "0.9.2342.19200300.100.1.1"],
  ["SERIALNUMBER", "2.5.4.5"],
]);

/** Extensions by Salt's names, in its order. */
export const EXTENSION_OIDS: ReadonlyMap<string, string> = new Map([
  ["basicConstraints", "2.5.29.19"],
  ["keyUsage", "2.5.29.15"],
  ["extendedKeyUsage", "2.5.29.37"],
  ["subjectKeyIdentifier", "2.5.29.14"],
  ["authorityKeyIdentifier", "2.5.29.35"],
  ["issuerAltName", "2.5.29.18"],
  ["authorityInfoAccess", "1.3.6.1.5.5.7.1.1"],
  ["subjectAltName", "2.5.29.17"],
  ["crlDistributionPoints", "2.5.29.31"],
  ["issuingDistributionPoint", "2.5.29.28"],
  ["certificatePolicies", "2.5.29.32"],
  ["policyConstraints", "2.5.29.36"],
  ["inhibitAnyPolicy", "2.5.29.54"],
  ["nameConstraints", "2.5.29.30"],
  ["noCheck", "1.3.6.1.5.5.7.48.1.5"],
  ["tlsfeature", "1.3.6.1.5.5.7.1.24"],
  ["nsComment", ""],
  ["nsCertType", ""],
  ["cRLNumber", "2.5.29.20"],
  ["deltaCRLIndicator", "2.5.29.27"],
  ["freshestCRL", "2.5.29.46"],
]);

/** Extensions of one entry of a revocation list. */
export const ENTRY_EXTENSION_OIDS: ReadonlyMap<string, string> = new Map([
  ["certificateIssuer", "2.5.29.29"],
  ["CRLReason", "2.5.29.21"],
  ["invalidityDate", "2.5.29.24"],
]);

/** Extensions that only revocation lists have. */
const LIST_ONLY: readonly string[] = ["issuingDistributionPoint", "cRLNumber", "deltaCRLIndicator", "freshestCRL"];

/** Those that a certificate may have. */
export const CERTIFICATE_EXTENSIONS: readonly string[] = [...EXTENSION_OIDS.keys()].filter((name) =>
  !LIST_ONLY.includes(name)
);

/** Those that a revocation list may have. */
export const LIST_EXTENSIONS: readonly string[] = [
  ...LIST_ONLY,
  "authorityKeyIdentifier",
  "authorityInfoAccess",
  "issuerAltName",
];

/** Those that no signing request may have. */
export const NOT_OF_REQUESTS: readonly string[] = [
  "authorityInfoAccess",
  "authorityKeyIdentifier",
  "issuerAltName",
  "crlDistributionPoints",
];

/** Uses of keys by Salt's names. */
export const USAGE_OIDS: Readonly<Record<string, string>> = {
  serverAuth: "1.3.6.1.5.5.7.3.1",
  clientAuth: "1.3.6.1.5.5.7.3.2",
  codeSigning: "1.3.6.1.5.5.7.3.3",
  emailProtection: "1.3.6.1.5.5.7.3.4",
  timeStamping: "1.3.6.1.5.5.7.3.8",
  OCSPSigning: "1.3.6.1.5.5.7.3.9",
  msSmartcardLogin: "1.3.6.1.4.1.311.20.2.2",
  pkInitKDC: "1.3.6.1.5.2.3.5",
  ipsecIKE: "1.3.6.1.5.5.7.3.17",
  msCodeInd: "1.3.6.1.4.1.311.2.1.21",
  msCodeCom: "1.3.6.1.4.1.311.2.1.22",
  msCTLSign: "1.3.6.1.4.1.311.10.3.1",
  msEFS: "1.3.6.1.4.1.311.10.3.4",
};

/** Access methods of authority information. */
export const ACCESS_OIDS: Readonly<Record<string, string>> = {
  OCSP: "1.3.6.1.5.5.7.48.1",
  caIssuers: "1.3.6.1.5.5.7.48.2",
  caRepository: "1.3.6.1.5.5.7.48.5",
};

const ANY_RSA = "1.2.840.113549.1.1";
const NIST = "2.16.840.1.101.3.4.3";

/** A signature algorithm. */
interface Algorithm {
  readonly oid: string;
  readonly key: "rsa" | "ec";
  /** Node's name of the digest. */
  readonly digest: string;
  /** The name that is shown; without it the identifier is. */
  readonly shown?: string;
}

function both(digest: string, rsa: string, ec: string, names: boolean): Algorithm[] {
  const upper = digest.toUpperCase();
  return [
    { oid: rsa, key: "rsa", digest, ...names && { shown: `${digest}WithRSAEncryption` } },
    { oid: ec, key: "ec", digest, ...names && { shown: `ecdsa-with-${upper}` } },
  ];
}

/** Signature algorithms with a digest. */
const ALGORITHMS: readonly Algorithm[] = [
  { oid: `${ANY_RSA}.4`, key: "rsa", digest: "md5", shown: "md5WithRSAEncryption" },
  ...both("sha1", `${ANY_RSA}.5`, "1.2.840.10045.4.1", true),
  ...both("sha224", `${ANY_RSA}.14`, "1.2.840.10045.4.3.1", true),
  ...both("sha256", `${ANY_RSA}.11`, "1.2.840.10045.4.3.2", true),
  ...both("sha384", `${ANY_RSA}.12`, "1.2.840.10045.4.3.3", true),
  ...both("sha512", `${ANY_RSA}.13`, "1.2.840.10045.4.3.4", true),
  ...both("sha3-224", `${NIST}.13`, `${NIST}.9`, false),
  ...both("sha3-256", `${NIST}.14`, `${NIST}.10`, false),
  ...both("sha3-384", `${NIST}.15`, `${NIST}.11`, false),
  ...both("sha3-512", `${NIST}.16`, `${NIST}.12`, false),
];

/** The identifier of RSA-PSS, whose digest is in its parameters. */
export const RSA_PSS = `${ANY_RSA}.10`;
export const ED25519 = "1.3.101.112";
export const ED448 = "1.3.101.113";
/** The identifiers of public keys. */
export const RSA_KEY = `${ANY_RSA}.1`;
export const EC_KEY = "1.2.840.10045.2.1";

/**
 * The identifier of a signature algorithm; `undefined` if there is none.
 * @param digest Node's name.
 */
export function algorithmOid(key: "rsa" | "ec", digest: string): string | undefined {
  return ALGORITHMS.find((one) => one.key === key && one.digest === digest)?.oid;
}

/** Node's name of the digest of a signature algorithm; `undefined`: it has none, or is unknown. */
export function findDigest(algorithm: string): string | undefined {
  return ALGORITHMS.find(({ oid }) => oid === algorithm)?.digest;
}

/** Names of extensions in comparisons, if they differ from Salt's own. */
const EXTENSION_NAMES: Readonly<Record<string, string>> = {
  crlDistributionPoints: "cRLDistributionPoints",
  noCheck: "OCSPNoCheck",
  tlsfeature: "TLSFeature",
};

const OTHER_EXTENSIONS: Readonly<Record<string, string>> = {
  "2.5.29.9": "subjectDirectoryAttributes",
  "2.5.29.16": "privateKeyUsagePeriod",
  "2.5.29.33": "policyMappings",
  "1.3.6.1.5.5.7.1.11": "subjectInfoAccess",
  "1.3.6.1.4.1.11129.2.4.2": "signedCertificateTimestampList",
  "1.3.6.1.4.1.11129.2.4.3": "ctPoison",
  "1.3.6.1.4.1.311.21.7": "msCertificateTemplate",
  "1.3.36.8.3.3": "Admissions",
};

/** The name of an extension as changes show it. */
export function extensionName(oid: string): string {
  const name = [...EXTENSION_OIDS].find(([, one]) => one === oid)?.[0];
  if (name === undefined) return OTHER_EXTENSIONS[oid] ?? "Unknown OID";
  return EXTENSION_NAMES[name] ?? name;
}

/** The uses of keys that are shown by a name. */
const SHOWN_USAGES: readonly string[] = [
  "serverAuth",
  "clientAuth",
  "codeSigning",
  "emailProtection",
  "timeStamping",
  "OCSPSigning",
  "msSmartcardLogin",
  "pkInitKDC",
];

const SHOWN: ReadonlyMap<string, string> = new Map([
  ...SHOWN_USAGES.map((name): [string, string] => [USAGE_OIDS[name], name]),
  ...Object.entries(ACCESS_OIDS).map(([name, oid]): [string, string] => [oid, name]),
  ...ALGORITHMS.flatMap(({ oid, shown }): [string, string][] => shown === undefined ? [] : [[oid, shown]]),
  [RSA_PSS, "rsassaPss"],
  [ED25519, "ed25519"],
  [ED448, "ed448"],
]);

/** The shown name of an identifier of a usage, an access method or an algorithm; `undefined`: the identifier itself. */
export function shownName(oid: string): string | undefined {
  return SHOWN.get(oid);
}
