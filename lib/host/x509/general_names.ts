/**
 * General names (hosts, addresses, mailboxes and so on): as DER, as text, and in the form of Salt's arguments.
 * Source: RFC 5280 section 4.2.1.6; Salt 3008.3 `salt/utils/x509.py` _parse_general_names, render_gn.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { type Der, der, encodeOid, encodeString, explicit, readChildren, readDer, readOid } from "./der.ts";
import { encodeName, nameOf, nameText, readName } from "./names.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { addressText } from "#lib/text/ip_address.ts";
import { type IpInterface, parseIpAddress, parseIpNetwork } from "#lib/text/ip_network.ts";
import { repr, str, typeName, type Value } from "#lib/values/value.ts";

/** One general name as it is read. */
export interface GeneralName {
  /** How Salt shows it: `DNS:example.org`. */
  readonly shown: string;
  /** The text of Python's value. */
  readonly value: string;
}

/** A kind and a value, as in `dns:example.org`. */
export type NameEntry = readonly [string, Value];

/** @throws {DerError} If it is none. */
export function readGeneralName(name: Der): GeneralName {
  const plain = () => new TextDecoder().decode(name.body);
  const of = (prefix: string, value: string): GeneralName => ({ shown: `${prefix}:${value}`, value });
  switch (name.tag & 0x1f) {
    case 0: {
      const [type, content] = readChildren(name);
      const value = new Uint8Array(content.body);
      const shown = `<OtherName(type_id=<ObjectIdentifier(oid=${readOid(type)}, name=Unknown OID)>, ` +
        `value=${repr(value)})>`;
      return { shown, value: repr(value) };
    }
    case 1:
      return of("mail", plain());
    case 2:
      return of("DNS", plain());
    case 4: {
      const text = nameText(readName(readDer(name.body)));
      return { shown: `dirName:${text}`, value: `<Name(${text})>` };
    }
    case 6:
      return of("URI", plain());
    case 7:
      return { shown: `IP:${addressOf(name.body, true)}`, value: addressOf(name.body, false) };
    case 8:
      return { shown: `RID:${readOid(name)}`, value: `<ObjectIdentifier(oid=${readOid(name)}, name=Unknown OID)>` };
    default:
      return { shown: plain(), value: plain() };
  }
}

/**
 * An address or a network of 4, 8, 16 or 32 bytes as text.
 * @param whole Whether IPv6 is shown with all its digits.
 */
function addressOf(bytes: Uint8Array, whole: boolean): string {
  const half = bytes.length === 8 || bytes.length === 32 ? bytes.length / 2 : bytes.length;
  const address = bytes.subarray(0, half);
  const mask = [...bytes.subarray(half)].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const words = address.toHex().match(/.{4}/g) ?? [];
  const text = half === 4 ? address.join(".") : whole ? words.join(":") : addressText(address.toHex());
  return bytes.length === half ? text : `${text}/${rstripChars(mask, "0").length}`;
}

/** A domain in ASCII. */
function domain(argument: string, { dot = false, wildcard = false } = {}): string {
  const hasDot = argument.startsWith(".");
  if (hasDot && !dot) throw new CommandError("Leading dots are not allowed in this context");
  let name = hasDot ? argument.replace(/^\.+/, "") : argument;
  const hasWildcard = name.startsWith("*.");
  if (hasWildcard) {
    if (!wildcard) throw new CommandError("Wildcards are not allowed in this context");
    if (hasDot) throw new CommandError("Wildcards and leading dots cannot be present together");
    name = name.slice(2);
    if (name.startsWith(".")) throw new CommandError("Empty label");
  }
  return (hasDot ? "." : hasWildcard ? "*." : "") + asciiDomain(name);
}

/** IDNA as in Python's library `idna` for ASCII; other letters become punycode, as in URLs. */
function asciiDomain(name: string): string {
  if (name === "") throw new CommandError("Empty domain");
  const labels = name.split(/[.\u3002\uff0e\uff61]/);
  const trailing = labels.length > 1 && labels.at(-1) === "";
  if (trailing) labels.pop();
  const done = labels.map((label) => {
    if (label === "") throw new CommandError("Empty Label");
    if (label.slice(2, 4) === "--" && !label.startsWith("xn--")) {
      throw new CommandError("Label has disallowed hyphens in 3rd and 4th position");
    }
    if (label.startsWith("-") || label.endsWith("-")) {
      throw new CommandError("Label must not start or end with a hyphen");
    }
    // deno-lint-ignore no-control-regex
    const plain = /^[\x00-\x7f]*$/.test(label);
    // As in the library: letters are not converted to lower case; only the letters of host names are allowed, and
    // beside others only lower case.
    const wrong = (plain ? /[^a-zA-Z0-9-]/ : /[^a-z0-9\u0080-\u{10ffff}-]/u).exec(label);
    if (wrong !== null) {
      const code = (wrong[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      throw new CommandError(`Codepoint U+${code} at position ${wrong.index + 1} of ${repr(label)} not allowed`);
    }
    const ascii = plain ? label : punycode(label);
    if (ascii.length > 63) throw new CommandError("Label too long");
    return ascii;
  });
  return [...done, ...trailing ? [""] : []].join(".");
}

function punycode(label: string): string {
  try {
    return new URL(`http://${encodeURIComponent(label)}`).hostname;
  } catch {
    throw new CommandError(`Codepoint of ${repr(label)} not allowed`);
  }
}

/** The bytes of an address or of a network with its mask. */
function addressBytes(argument: string): Uint8Array {
  const bytes = ({ version, value }: { readonly version: number; readonly value: bigint }) =>
    Uint8Array.fromHex(value.toString(16).padStart(version === 4 ? 8 : 32, "0"));
  const address = parseIpAddress(argument);
  if (address !== undefined) return bytes(address);
  const network: IpInterface | undefined = parseIpNetwork(argument, { strict: true });
  if (network === undefined) {
    throw new CommandError(`Provided value ${argument} does not seem to be an IP address or network range.`);
  }
  const { version, prefix } = network;
  const size = version === 4 ? 32 : 128;
  const mask = ((1n << BigInt(prefix)) - 1n) << BigInt(size - prefix);
  return new Uint8Array([...bytes(network), ...bytes({ version, value: mask })]);
}

function mailBox(argument: string): string {
  const at = argument.lastIndexOf("@");
  // Without a mailbox it is a host or a domain, as in name constraints.
  if (at < 0) return domain(argument, { dot: true });
  const address = asciiName(`${argument.slice(0, at)}@${domain(argument.slice(at + 1))}`, "RFC822Name");
  if (argument.slice(0, at).includes("@")) throw new CommandError("Invalid rfc822name value");
  return address;
}

/** @throws {CommandError} For letters beyond ASCII, in the words of Python's library `cryptography`. */
function asciiName(name: string, kind: string): string {
  // deno-lint-ignore no-control-regex
  if (/^[\x00-\x7f]*$/.test(name)) return name;
  throw new CommandError(
    `${kind} values should be passed as an A-label string. This means unicode characters should be encoded via a library ` +
      "like idna.",
  );
}

function uri(argument: string): string {
  const url = argument.replace(
    /^([A-Za-z][A-Za-z0-9+.-]*:)?\/\/([^/?#]*)/,
    (whole, scheme: string | undefined, host: string) =>
      host === "" ? whole : `${(scheme ?? "").toLowerCase()}//${asciiDomain(host)}`,
  );
  return asciiName(url, "URI");
}

/**
 * One general name as DER.
 * @throws {CommandError} If the value does not fit its kind, or there is no such kind.
 * @throws {InvocationError} If it is not a text.
 */
export function generalName([kind, value]: NameEntry): Uint8Array {
  const word = kind.toLowerCase();
  const argument = () => {
    if (typeof value === "string") return value;
    throw new InvocationError(`Expected string value, got ${typeName(value)}: \`${str(value)}\``);
  };
  switch (word) {
    case "email":
      return encodeString(0x81, mailBox(argument()));
    case "uri":
      return encodeString(0x86, uri(argument()));
    case "dns":
      return encodeString(0x82, domain(argument(), { dot: true, wildcard: true }));
    case "rid": {
      const whole = encodeOid(checkedOid(str(value)));
      return der(0x88, whole.subarray(2));
    }
    case "ip":
      return der(0x87, addressBytes(str(value)));
    case "dirname":
      return explicit(4, encodeName(nameOf(value)));
    case "othername":
      throw new InvocationError("otherName is currently not implemented");
    default:
      throw new CommandError(`GeneralName type ${word} is invalid`);
  }
}

/**
 * A given object identifier.
 * @throws {CommandError} If it is none.
 */
export function checkedOid(argument: string): string {
  if (!/^[012](?:\.\d+)+$/.test(argument)) throw new CommandError(`Invalid oid: ${argument}`);
  return argument;
}

/** `dns:example.org` in two. */
export function splitName(argument: string): NameEntry {
  const at = argument.indexOf(":");
  if (at < 0) throw new CommandError(`GeneralName type ${argument} is invalid`);
  return [argument.slice(0, at), argument.slice(at + 1)];
}

/** The names inside a value that are general names. */
export function readGeneralNames(value: Der): GeneralName[] {
  return readChildren(value).map(readGeneralName);
}
