/**
 * Settings of network interfaces as states give them: words for yes and no, numbers, addresses, and the error text for
 * an invalid setting. Source: Salt 3008.3, `salt/modules/debian_ip.py`, `salt/modules/rh_ip.py`,
 * `salt/utils/validate/net.py`.
 * @module
 */

import { escapeRegex } from "#lib/regex/escape.ts";
import { pythonError } from "#lib/python/errors.ts";
import { parseFloatText, parseInteger } from "#lib/python/parse_number.ts";
import { ipv4Bits, isIpv4, isIpv6 } from "#lib/text/ip_address.ts";
import {
  Float,
  isAmong,
  isMap,
  repr,
  str,
  toNumber,
  truthy,
  typeName,
  type Value,
  type ValueMap,
} from "#lib/values/value.ts";

const TRUE_WORDS: readonly Value[] = ["yes", "on", "true", "1", true];
const FALSE_WORDS: readonly Value[] = ["no", "off", "false", "0", false];

/** All words for yes and no. */
export const SWITCH_WORDS: readonly Value[] = [...TRUE_WORDS, ...FALSE_WORDS];

/** Whether `value` is a word for yes. */
export function isYes(value: Value | undefined): boolean {
  return isAmong(value ?? null, TRUE_WORDS);
}

/** The first of `words` for yes, the second for no; `undefined` for anything else. */
export function chooseByFlag<T>(value: Value, [yes, no]: readonly [yes: T, no: T]): T | undefined {
  if (isYes(value)) return yes;
  return isAmong(value, FALSE_WORDS) ? no : undefined;
}

/** The expected values: a text, or several joined. */
function alternatives(expected: Value | readonly Value[]): string {
  return (Array.isArray(expected) ? expected : [expected as Value]).map(str).join("|");
}

/** The error for an invalid setting of an interface: Python's AttributeError, which states show as their comment. */
export function wrongSetting(iface: string, option: Value, expected: Value | readonly Value[]): Error {
  return settingError(
    `Invalid option -- Interface: ${iface}, Option: ${str(option)}, Expected: [${alternatives(expected)}]`,
  );
}

/** As {@linkcode wrongSetting}, for the routes of an interface. */
export function wrongRoutes(iface: string): Error {
  return settingError(`Invalid option -- Route interface: ${iface}, Option: routes, Expected: [List of routes]`);
}

/** As {@linkcode wrongSetting}, for the settings of the whole host. */
export function wrongNetworkSetting(option: string, expected: readonly Value[]): Error {
  return settingError(`Invalid network setting -- Setting: ${option}, Expected: [${alternatives(expected)}]`);
}

/** Python's AttributeError. */
export function settingError(message: string): Error {
  return pythonError("AttributeError", message);
}

/**
 * The setting of that name.
 * @throws Python's KeyError if it is not there.
 */
export function requireSetting(settings: ValueMap, name: string): Value {
  const value = settings.get(name);
  if (value === undefined) throw pythonError("KeyError", repr(name));
  return value;
}

/**
 * Python's `int(value)`; `undefined` where it raises ValueError.
 * @throws Python's TypeError for what is not a number or text.
 */
export function integerOf(value: Value): Value | undefined {
  if (typeof value === "string") return parseInteger(value, 10);
  const number = toNumber(value);
  if (number === undefined) {
    throw pythonError(
      "TypeError",
      `int() argument must be a string, a bytes-like object or a real number, not '${typeName(value)}'`,
    );
  }
  return typeof value === "bigint" ? value : Math.trunc(number);
}

/**
 * Python's `float(value)`; `undefined` where it raises ValueError.
 * @throws Python's TypeError for what is not a number or text.
 */
export function parsePythonFloat(value: Value): Value | undefined {
  if (typeof value === "string") return parseFloatText(value);
  const number = toNumber(value);
  if (number === undefined) {
    throw pythonError("TypeError", `float() argument must be a string or a real number, not '${typeName(value)}'`);
  }
  return Number.isInteger(number) ? new Float(number) : number;
}

/**
 * Whether it is an address of a network card.
 * @throws Python's TypeError for what is not a text.
 */
export function isHardwareAddress(value: Value): boolean {
  if (typeof value !== "string") {
    throw pythonError("TypeError", `expected string or bytes-like object, got '${typeName(value)}'`);
  }
  return ["-", ":", "."].some((mark) =>
    new RegExp(`^([0-9A-F]{1,2}${escapeRegex(mark)}){5}[0-9A-F]{1,2}$`, "i").test(value)
  );
}

function isAddress(value: Value, isOfFamily: (text: string) => boolean, longest: number): boolean {
  if (typeof value !== "string") return false;
  const at = value.lastIndexOf("/");
  if (at < 0) return isOfFamily(value);
  const length = parseInteger(value.slice(at + 1), 10);
  return isOfFamily(value.slice(0, at)) && length !== undefined && length >= 1 && length <= longest;
}

/** Whether it is an IPv4 address, with or without a prefix length. */
export function isIpv4Setting(value: Value): boolean {
  return isAddress(value, isIpv4, 32);
}

/** Whether it is an IPv6 address, with or without a prefix length. */
export function isIpv6Setting(value: Value): boolean {
  return isAddress(value, (text) => !text.includes("%") && isIpv6(text), 128);
}

/** Whether a text is the mask of an IPv4 network, or the mask of the hosts in one. */
export function isNetmask(value: Value): boolean {
  if (typeof value !== "string" || !isIpv4(value)) return false;
  const bits = ipv4Bits(value);
  return /^1*0*$/.test(bits) || /^0*1*$/.test(bits);
}

/** The text that a Jinja template prints for a true value; else nothing. */
export function whenTrue(value: Value | undefined, text: (shown: string) => string): string {
  return truthy(value) ? text(str(value ?? null)) : "";
}

/**
 * The items that Python iterates over: of a list, the keys of a map, the characters of a text; `undefined` for others.
 */
export function itemsOf(value: Value): Value[] | undefined {
  if (typeof value === "string") return [...value];
  if (isMap(value)) return [...value.keys()];
  return Array.isArray(value) ? value : undefined;
}
