/**
 * Arguments as people write them in SLS files and on command lines, as the values that the engine takes.
 * Source: Salt 3006.28 `salt/utils/dockermod/translate/helpers.py`.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { isIpv4, isIpv6 } from "#lib/text/ip_address.ts";
import { parseIpNetwork } from "#lib/text/ip_network.ts";
import { numberOfText, strip } from "#lib/values/python_text.ts";
import { isFloat, isInt, isMap, map, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** How arguments are read. */
export interface InputOptions {
  /** Whether texts that shall be addresses are checked. */
  readonly validateIps: boolean;
  /** Arguments that are left as they are. */
  readonly skipped: readonly string[];
}

/** The parts of a text, without white space around them. */
export function splitParts(text: string, separator = ",", most = Infinity): string[] {
  const parts = text.split(separator);
  const [first, rest] = [parts.slice(0, most), parts.slice(most)];
  return [...first, ...rest.length > 0 ? [rest.join(separator)] : []].map(strip);
}

/** A list of texts; of anything else the parts between commas. */
export function textItems(value: Value): string[] {
  return Array.isArray(value) ? value.map(str) : splitParts(str(value));
}

/** Like {@linkcode textItems}, but maps in a list stay what they are. */
export function textsOrMaps(value: Value): (string | ValueMap)[] {
  return Array.isArray(value) ? value.map((item) => isMap(item) ? item : str(item)) : splitParts(str(value));
}

/** @throws {InvocationError} If it is no int. */
export function intInput(value: Value): Value {
  const read = typeof value === "boolean" ? value : wholeInput(value);
  if (read === undefined) throw new InvocationError(`'${str(value)}' is not an integer`);
  return read;
}

/** The int of a number, or of a text that is one; `undefined` of anything else. */
export function wholeInput(value: Value): number | undefined {
  if (isInt(value)) return Number(value);
  if (isFloat(value)) return Math.trunc(toNumber(value) ?? 0);
  if (typeof value !== "string" || !/^\s*[-+]?\d+\s*$/.test(value)) return undefined;
  return Number(value);
}

/** Python's truth value. */
export function boolInput(value: Value): Value {
  return truthy(value);
}

/** Python's text. */
export function textInput(value: Value): Value {
  return str(value);
}

/** @throws {InvocationError} If it is no map. */
export function mapInput(value: Value): Value {
  if (!isMap(value)) throw new InvocationError(`'${str(value)}' is not a dictionary`);
  return value;
}

/** A command: a text, or a list of words. */
export function commandInput(value: Value): Value {
  return Array.isArray(value) ? value.map(str) : str(value);
}

/** A number of bytes: an int, or a text with a unit. */
export function sizeInput(value: Value): Value {
  return wholeInput(value) ?? str(value);
}

/** @throws {InvocationError} If it is no address. */
export function checkIp(value: Value): void {
  const text = str(value);
  if (!isIpv4(text) && !isIpv6(text)) throw new InvocationError(`'${text}' is not a valid IP address`);
}

/** @throws {InvocationError} If it is no subnet. */
export function checkSubnet(value: Value): void {
  const text = str(value);
  if (!text.includes("/") || parseIpNetwork(text, { strict: true }) === undefined) {
    throw new InvocationError(`'${text}' is not a valid subnet`);
  }
}

/**
 * A map of texts such as `key=value`.
 * @throws {InvocationError} If one has no delimiter.
 */
export function pairsInput(value: Value, delimiter: string): ValueMap {
  if (isMap(value)) return value;
  return new Map(
    textItems(value).map((item): [Value, Value] => {
      const [key, rest] = splitParts(item, delimiter, 1);
      if (rest === undefined) throw new InvocationError(`'${item}' is not a key${delimiter}value pair`);
      return [key, rest];
    }),
  );
}

/** Labels: a map, a list of maps and of texts, or a text. A label without a value has an empty one. */
export function labelsInput(value: Value): Value {
  if (isMap(value) || value === null) return value;
  if (!Array.isArray(value) && typeof value !== "string") throw new InvocationError("Invalid label(s)");
  const items = Array.isArray(value) ? value : splitParts(value);
  return new Map(items.map((item): [Value, Value] => {
    if (!isMap(item)) {
      const [key, rest = ""] = splitParts(str(item), "=", 1);
      return [key, rest];
    }
    if (item.size !== 1) throw new InvocationError("Invalid label(s)");
    const [[key, label]] = item;
    return [str(key), str(label)];
  }));
}

/**
 * Maps of texts such as `a:b`, with a name for each part.
 * @param fill The value of parts that are not given. Default: all must be.
 * @throws {InvocationError} If there are more or fewer parts.
 */
export function namedParts(value: Value, names: readonly string[], fill?: string): ValueMap[] {
  return textsOrMaps(value).map((item) => {
    if (isMap(item)) return new Map(item);
    const parts = splitParts(item, ":");
    const isWrong = parts.length > names.length || (parts.length < names.length && fill === undefined);
    if (isWrong) {
      const most = parts.length > names.length && fill !== undefined ? "up to " : "";
      throw new InvocationError(`'${item}' contains ${parts.length} value(s) (expected ${most}${names.length})`);
    }
    return map(Object.fromEntries(names.map((name, i) => [name, parts[i] ?? fill])));
  });
}

/** Rates of devices: `/dev/sda:1mb`. */
export function deviceRates(value: Value, { areNumbers }: { readonly areNumbers: boolean }): Value {
  return namedParts(value, ["Path", "Rate"]).map((item) => {
    const path = item.get("Path") ?? null;
    if (typeof path !== "string" || !path.startsWith("/")) {
      throw new InvocationError(`Path '${str(path)}' is not absolute`);
    }
    const given = item.get("Rate") ?? null;
    const rate = wholeInput(given);
    if (rate === undefined && (areNumbers || typeof given !== "string")) {
      throw new InvocationError(`Rate '${str(given)}' for path '${path}' is non-numeric`);
    }
    return item.set("Rate", rate ?? given);
  });
}

/** A user: its id, or its name. */
export function userInput(value: Value): Value {
  const id = typeof value === "string"
    ? numberOfText(value) === undefined ? undefined : wholeInput(value)
    : wholeInput(value);
  if (id === undefined && typeof value !== "string") throw new InvocationError("Value must be a username or uid");
  if (id !== undefined && id < 0) throw new InvocationError(`'${id}' is an invalid uid`);
  return id ?? value;
}

/** @throws {InvocationError} If it is no absolute path. */
export function absoluteInput(value: Value): Value {
  if (typeof value === "string" && value.startsWith("/")) return value;
  throw new InvocationError(`'${str(value)}' is not an absolute path`);
}
