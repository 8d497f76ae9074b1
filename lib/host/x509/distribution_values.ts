/**
 * Extensions for distribution points, policies and constraints, built from Salt's arguments.
 * Source: RFC 5280 section 4.2 and 5.2; Salt 3008.3 `salt/utils/x509.py` _parse_distribution_points and so on.
 * @module
 */

import {
  contextTag,
  der,
  encodeBoolean,
  encodeInteger,
  encodeOid,
  encodeSequence,
  encodeString,
  explicit,
  namedBits,
  TAG,
} from "./der.ts";
import { REASON_BITS } from "./extension_texts.ts";
import {
  confWords,
  givenPoints,
  mentions,
  parseExtensionWords,
  parseNameEntries,
  wholeNumber,
} from "./extension_words.ts";
import { checkedOid, generalName, type NameEntry } from "./general_names.ts";
import { implicitPart, namePart } from "./names.ts";
import { InvocationError } from "#lib/errors.ts";
import { asList, listOrEmpty } from "#lib/values/shape.ts";
import { isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** A made extension, without its identifier. */
export interface ExtensionValue {
  readonly value: Uint8Array;
  readonly critical: boolean;
}

function reasonBits(value: Value, { tag, point }: { readonly tag: number; readonly point: string }): Uint8Array {
  const bits = asList(value).map((one) => {
    const at = REASON_BITS.indexOf(str(one));
    if (["unspecified", "removeFromCRL"].includes(str(one))) {
      throw new InvocationError(`unspecified and remove_from_crl are not valid reasons in ${point}`);
    }
    if (at < 1) {
      throw new InvocationError(`${typeof one === "string" ? `'${one}'` : str(one)} is not a valid ReasonFlags`);
    }
    return at;
  });
  return namedBits(bits, tag);
}

/** The names of a distribution point: full, or relative to the issuer's. */
function pointName(fullname: readonly NameEntry[] | undefined, relative: Value): Uint8Array[] {
  if (fullname !== undefined && truthy(relative)) {
    throw new InvocationError("You cannot provide both full_name and relative_name, at least one must be None.");
  }
  if (fullname !== undefined) return [explicit(0, der(contextTag(0, true), ...fullname.map(generalName)))];
  return truthy(relative) ? [explicit(0, implicitPart(contextTag(1, true), namePart(relative)))] : [];
}

function field(point: ValueMap, name: string): Value {
  return point.get(name) ?? null;
}

function fullNames(point: ValueMap): NameEntry[] | undefined {
  const argument = field(point, "fullname");
  return truthy(argument) ? parseNameEntries(argument) : undefined;
}

function isGiven(point: NameEntry | Value): point is NameEntry {
  return Array.isArray(point) && point.length === 2 && typeof point[0] === "string";
}

function distributionPoint(point: NameEntry | Value): Uint8Array {
  if (isGiven(point)) return encodeSequence(...pointName([point], null));
  if (!isMap(point)) throw new InvocationError(`A distribution point is a dict, not ${str(point as Value)}`);
  const [reasons, issuer] = [field(point, "reasons"), field(point, "crlissuer")];
  const parts = [
    ...pointName(fullNames(point), field(point, "relativename")),
    ...truthy(reasons) ? [reasonBits(reasons, { tag: contextTag(1, false), point: "a DistributionPoint" })] : [],
    ...truthy(issuer) ? [der(contextTag(2, true), ...parseNameEntries(issuer).map(generalName))] : [],
  ];
  if (parts.length === 0) {
    throw new InvocationError("Either full_name, relative_name or crl_issuer must be provided.");
  }
  return encodeSequence(...parts);
}

/** `crlDistributionPoints`. */
export function distributionPoints(argument: Value): ExtensionValue {
  const { critical, points } = givenPoints(argument);
  return { value: encodeSequence(...points.map(distributionPoint)), critical };
}

/** `freshestCRL`. */
export function freshestList(argument: Value): ExtensionValue {
  return { ...distributionPoints(argument), critical: false };
}

/** `issuingDistributionPoint`. */
export function issuingPoint(argument: Value): ExtensionValue {
  if (!isMap(argument)) throw new InvocationError("issuingDistributionPoint must be a dictionary");
  const flag = (name: string, n: number) =>
    truthy(field(argument, name)) ? [encodeBoolean(true, contextTag(n, false))] : [];
  const only = [...flag("onlyuser", 1), ...flag("onlyCA", 2), ...flag("onlyAA", 5)];
  if (only.length > 1) {
    throw new InvocationError(
      "Only one of the following can be set to True: only_contains_user_certs, only_contains_ca_certs, " +
        "only_contains_attribute_certs",
    );
  }
  const reasons = field(argument, "onlysomereasons");
  const fullname = fullNames(argument);
  const parts = [
    // Salt ignores a relative name if there is a full one.
    ...pointName(fullname, fullname === undefined ? field(argument, "relativename") : null),
    ...flag("onlyuser", 1),
    ...flag("onlyCA", 2),
    ...truthy(reasons)
      ? [reasonBits(reasons, { tag: contextTag(3, false), point: "an IssuingDistributionPoint" })]
      : [],
    ...flag("indirectCRL", 4),
    ...flag("onlyAA", 5),
  ];
  if (parts.length === 0) {
    throw new InvocationError(
      "Cannot create empty extension: if only_contains_user_certs, only_contains_ca_certs, indirect_crl, and " +
        "only_contains_attribute_certs are all False, then either full_name, relative_name, or only_some_reasons " +
        "must have a value.",
    );
  }
  return { value: encodeSequence(...parts), critical: truthy(field(argument, "critical")) };
}

function qualifier(argument: Value): Uint8Array[] {
  if (typeof argument === "string") {
    return [encodeSequence(encodeOid("1.3.6.1.5.5.7.2.1"), encodeString(TAG.ia5, argument))];
  }
  if (!isMap(argument)) throw new InvocationError(`A qualifier is a str or a dict, not ${str(argument)}`);
  const numbers = field(argument, "noticeNumbers");
  // As Salt does: without numbers there is no notice.
  if (!truthy(numbers)) return [];
  const list = asList(numbers).map((one) => encodeInteger(wholeNumber(one, "noticeNumbers")));
  const organization = field(argument, "organization");
  const words = field(argument, "text");
  const reference = encodeSequence(
    ...organization === null ? [] : [encodeString(TAG.utf8, str(organization))],
    encodeSequence(...list),
  );
  const notice = encodeSequence(reference, ...words === null ? [] : [encodeString(TAG.utf8, str(words))]);
  return [encodeSequence(encodeOid("1.3.6.1.5.5.7.2.2"), notice)];
}

/** `certificatePolicies`. */
export function policies(argument: Value): ExtensionValue {
  if (typeof argument === "string") {
    const ids = argument.split(",").map((one) => one.trim()).filter((one) => one !== "critical");
    if (!ids.every((id) => /^[012](?:\.\d+)+$/.test(id))) {
      throw new InvocationError("certificatePolicies defined as string must be a comma-separated list of OID.");
    }
    return {
      value: encodeSequence(...ids.map((id) => encodeSequence(encodeOid(id)))),
      critical: argument.startsWith("critical"),
    };
  }
  if (!isMap(argument)) throw new InvocationError("certificatePolicies must be a str or a dict");
  const parsed = [...argument].filter(([id]) => id !== "critical").map(([id, qualifiers]) => {
    const encodedPolicies = listOrEmpty(qualifiers).flatMap(qualifier);
    return encodeSequence(
      encodeOid(checkedOid(str(id))),
      ...encodedPolicies.length > 0 ? [encodeSequence(...encodedPolicies)] : [],
    );
  });
  return { value: encodeSequence(...parsed), critical: truthy(argument.get("critical") ?? false) };
}

/** `policyConstraints`: limits the certificates of a path without explicit policies, or with mapped ones. */
export function policyConstraints(argument: Value): ExtensionValue {
  const { critical, words } = parseExtensionWords(argument);
  const number = (name: string, n: number) => {
    const value = words.get(name);
    return value === undefined ? [] : [encodeInteger(wholeNumber(value, name), contextTag(n, false))];
  };
  const parts = [...number("requireExplicitPolicy", 0), ...number("inhibitPolicyMapping", 1)];
  if (parts.length === 0) {
    throw new InvocationError(
      "At least one of require_explicit_policy and inhibit_policy_mapping must not be None",
    );
  }
  return { value: encodeSequence(...parts), critical };
}

/** `inhibitAnyPolicy`: the number of certificates after which `anyPolicy` is no longer valid. */
export function inhibitAnyPolicy(argument: Value): ExtensionValue {
  if (typeof argument === "string") {
    const { critical, pairs } = confWords(argument);
    return { value: encodeInteger(wholeNumber(pairs[0][0], "skip_certs")), critical };
  }
  if (isMap(argument) && !argument.has("value")) {
    throw new InvocationError("Undefined required key for inhibitAnyPolicy: 'value'");
  }
  const value = isMap(argument) ? argument.get("value") ?? null : argument;
  return { value: encodeInteger(wholeNumber(value, "skip_certs")), critical: mentions(argument, "critical") };
}

/** `nameConstraints`: the permitted and the excluded subtrees of names. */
export function nameConstraints(argument: Value): ExtensionValue {
  const critical = mentions(argument, "critical");
  const scopes = new Map<string, NameEntry[]>();
  if (typeof argument === "string") {
    for (const item of argument.split(",")) {
      const [scope, name] = item.trim().split(";");
      if (name !== undefined) scopes.set(scope, [...scopes.get(scope) ?? [], ...parseNameEntries(name)]);
    }
  } else if (isMap(argument)) {
    for (const scope of ["permitted", "excluded"]) {
      const list = argument.get(scope);
      if (!Array.isArray(list)) continue;
      const names = parseNameEntries(list.filter((one) => one !== "critical"));
      scopes.set(scope, names.map(([kind, value]): NameEntry => [kind.trim(), str(value).trim()]));
    }
  }
  const trees = (scope: string, n: number) => {
    const names = scopes.get(scope) ?? [];
    return names.length === 0
      ? []
      : [der(contextTag(n, true), ...names.map((name) => encodeSequence(generalName(name))))];
  };
  const parts = [...trees("permitted", 0), ...trees("excluded", 1)];
  if (parts.length === 0) throw new InvocationError("nameConstraints needs at least one definition");
  return { value: encodeSequence(...parts), critical };
}
