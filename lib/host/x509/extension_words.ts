/**
 * The forms in which Salt is given extensions: texts as OpenSSL's configuration has them, lists, and maps.
 * Source: Salt 3008.3 `salt/utils/x509.py` _deserialize_openssl_confstring and its callers.
 * @module
 */

import { stripChars } from "#lib/values/python_text.ts";
import { type NameEntry, splitName } from "./general_names.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { asList } from "#lib/values/shape.ts";
import { isInt, isMap, str, typeName, type Value } from "#lib/values/value.ts";

/** Python's `word in value`. */
export function mentions(value: Value, word: string): boolean {
  if (typeof value === "string") return value.includes(word);
  if (Array.isArray(value)) return value.includes(word);
  return isMap(value) && value.has(word);
}

/** A text of OpenSSL's configuration. */
export interface Words {
  readonly critical: boolean;
  /** Words with their values; a word without one has `__present__`. */
  readonly pairs: readonly (readonly [string, string])[];
}

/** Reads `critical, word:value, word`. */
export function confWords(text: string): Words {
  const critical = text.startsWith("critical");
  const rest = critical ? stripChars(text.slice(8), ",").trim() : text;
  const pairs = rest.split(",").map((item): readonly [string, string] => {
    const at = item.indexOf(":");
    return at < 0 ? [item.trim(), "__present__"] : [item.slice(0, at).trim(), item.slice(at + 1).trim()];
  });
  return { critical, pairs };
}

/** The values of a map or a text, by word. */
export function parseExtensionWords(
  value: Value,
): { readonly critical: boolean; readonly words: ReadonlyMap<string, Value> } {
  if (typeof value === "string") {
    const { critical, pairs } = confWords(value);
    return { critical, words: new Map(pairs) };
  }
  if (!isMap(value)) throw new InvocationError(`Expected a dict or a str, not ${typeName(value)}`);
  return { critical: mentions(value, "critical"), words: new Map([...value].map(([key, one]) => [str(key), one])) };
}

/** Items of a list: `kind:value`, maps of these, or others as they are. */
function listItems(list: readonly Value[]): (NameEntry | Value)[] {
  return list.flatMap((item): (NameEntry | Value)[] => {
    if (typeof item === "string" && item.includes(":")) {
      const [kind, value] = splitName(item);
      return [[kind.trim(), str(value).trim()] as NameEntry];
    }
    return item === "critical" ? [] : [item];
  });
}

/** General names of a text or a list. */
export function givenNames(value: Value): { readonly critical: boolean; readonly names: NameEntry[] } {
  if (typeof value === "string") {
    const { critical, pairs } = confWords(value);
    return { critical, names: [...pairs] };
  }
  const names = asList(value).flatMap((item): NameEntry[] => {
    if (isMap(item)) return [...item].map(([kind, one]) => [str(kind), one]);
    if (typeof item !== "string" || !item.includes(":")) return [];
    const [kind, one] = splitName(item);
    return [[kind.trim(), str(one).trim()]];
  });
  return { critical: mentions(value, "critical"), names };
}

/** Distribution points: a map each, or one name. */
export function givenPoints(value: Value): { readonly critical: boolean; readonly points: (NameEntry | Value)[] } {
  if (typeof value === "string") {
    const { critical, pairs } = confWords(value);
    return { critical, points: pairs.map(([kind, one]): NameEntry => [kind, one]) };
  }
  return { critical: mentions(value, "critical"), points: Array.isArray(value) ? listItems(value) : [] };
}

/** One item or a list, as names `kind:value`. */
export function parseNameEntries(value: Value): NameEntry[] {
  return asList(value).map((one) => splitName(str(one)));
}

/**
 * A whole number that is not below 0.
 * @param orWhat What else it may be.
 * @throws {InvocationError} If it is none.
 */
export function wholeNumber(value: Value, what: string, orWhat = ""): bigint {
  const number = isInt(value)
    ? BigInt(value)
    : typeof value === "string" && /^\s*\d+\s*$/.test(value)
    ? BigInt(value)
    : -1n;
  if (number < 0n) throw new InvocationError(`${what} must be a non-negative integer${orWhat}`);
  return number;
}

/** @throws {CommandError} For a date that is none. */
export function knownDate(text: string): number {
  const match = /^(\d{4})-(\d\d?)-(\d\d?) (\d\d?):(\d\d?):(\d\d?)$/.exec(text);
  const [year, month, day, hour, minute, second] = (match ?? []).slice(1).map(Number);
  const ms = match === null ? NaN : Date.UTC(year, month - 1, day, hour, minute, second);
  if (Number.isNaN(ms) || new Date(ms).getUTCDate() !== day) {
    throw new CommandError(`time data '${text}' does not match format '%Y-%m-%d %H:%M:%S'`);
  }
  return ms;
}
