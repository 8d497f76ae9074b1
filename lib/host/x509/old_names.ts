/**
 * Long names of arguments that Salt still accepts, among them those of files, and signing policies.
 * Source: Salt 3008.3 `salt/utils/x509.py` NAME_ATTRS_ALT_NAMES, EXTENSIONS_ALT_NAMES, merge_signing_policy.
 * @module
 */

import { NAME_OIDS } from "./oids.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";

/** Current names, by the long ones. */
const NOW: ReadonlyMap<Value, string> = new Map([
  ["commonName", "CN"],
  ["localityName", "L"],
  ["stateOrProvinceName", "ST"],
  ["organizationName", "O"],
  ["organizationUnitName", "OU"],
  ["givenName", "GN"],
  ["surname", "SN"],
  ["Email", "MAIL"],
  ["emailAddress", "MAIL"],
  ["serialNumber", "SERIALNUMBER"],
  ["X509v3 Basic Constraints", "basicConstraints"],
  ["X509v3 Key Usage", "keyUsage"],
  ["X509v3 Extended Key Usage", "extendedKeyUsage"],
  ["X509v3 Subject Key Identifier", "subjectKeyIdentifier"],
  ["X509v3 Authority Key Identifier", "authorityKeyIdentifier"],
  ["X509v3 Issuer Alternative Name", "issuerAltName"],
  ["issuserAltName", "issuerAltName"],
  ["Authority Information Access", "authorityInfoAccess"],
  ["X509v3 Subject Alternative Name", "subjectAltName"],
  ["X509v3 CRL Distribution Points", "crlDistributionPoints"],
  ["X509v3 Issuing Distribution Point", "issuingDistributionPoint"],
  ["X509v3 Certificate Policies", "certificatePolicies"],
  ["X509v3 Policy Constraints", "policyConstraints"],
  ["X509v3 Inhibit Any Policy", "inhibitAnyPolicy"],
  ["X509v3 Name Constraints", "nameConstraints"],
  ["OCSP No Check", "noCheck"],
  ["TLS Feature", "tlsfeature"],
  ["Netscape Comment", "nsComment"],
  ["Netscape Certificate Type", "nsCertType"],
  ["X509v3 CRLNumber", "cRLNumber"],
  ["X509v3 Delta CRL Indicator", "deltaCRLIndicator"],
  ["x509v3 Freshest CRL", "freshestCRL"],
]);

/** The arguments under their current names. */
export function currentNames(kwargs: ValueMap): ValueMap {
  return new Map([...kwargs].map(([name, value]) => [NOW.get(name) ?? name, value]));
}

/**
 * The arguments of a certificate, merged with a signing policy, which takes precedence; both may give parts of the
 * subject.
 */
export function withPolicy(policy: ValueMap, kwargs: ValueMap): ValueMap {
  if (policy.size === 0) return kwargs;
  const merged = currentNames(kwargs);
  const forced = new Map(policy);
  const [wanted, subject] = [merged.get("subject") ?? null, policy.get("subject") ?? null];
  if (merged.has("subject")) {
    if ([...NAME_OIDS.keys()].some((word) => policy.has(word))) merged.delete("subject");
    else if (isMap(wanted) && isMap(subject)) forced.set("subject", new Map([...wanted, ...subject]));
    else if (Array.isArray(wanted) && Array.isArray(subject)) forced.set("subject", [...subject, ...wanted]);
  }
  for (const [name, value] of forced) merged.set(name, value);
  return merged;
}
