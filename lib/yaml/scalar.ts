/**
 * YAML 1.1 scalars as Salt's loader reads them: the type of a plain text, and the value of a text of a given type.
 * Salt's own rules: a leading zero does not make an int octal (`0644` is 644), and a date stays text. Knows nothing of
 * documents, styles or positions.
 * Source: PyYAML's resolver and constructor, salt/utils/yamlloader.py.
 * @module
 */

import { float, int, type Value } from "#lib/values/value.ts";

/** The types that YAML 1.1 recognises in plain text, by the last part of their tags. */
export type ScalarType = "null" | "bool" | "int" | "float" | "timestamp" | "merge" | "value" | "str";

const BOOL = /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/;
// An exponent requires its sign and a dot before it (`1e3` is a string); a leading dot allows no sign (`-.5` is a
// string).
const FLOAT =
  /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const INT =
  /^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$/;
const NULL = /^(?:~|null|Null|NULL|)$/;
const TIMESTAMP =
  /^(?:\d{4}-\d\d-\d\d|\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?)$/;
/** First characters of every text that is not a string, to skip the other checks for most texts. */
const MAYBE_TYPED = /^[-+.~<=0-9yYnNtTfFoO]/;

/** The type of the plain scalar `text`. */
export function scalarType(text: string): ScalarType {
  if (text === "") return "null";
  if (!MAYBE_TYPED.test(text)) return "str";
  if (BOOL.test(text)) return "bool";
  if (/^[A-Za-z]/.test(text)) return NULL.test(text) ? "null" : "str";
  if (FLOAT.test(text)) return "float";
  if (INT.test(text)) return "int";
  if (text === "<<") return "merge";
  if (NULL.test(text)) return "null";
  if (TIMESTAMP.test(text)) return "timestamp";
  return text === "=" ? "value" : "str";
}

/**
 * The value of a plain scalar: `22` an int, `1.0` a float, `yes` true, `~` None, a date its own text.
 * @returns `undefined` where Salt's loader fails: `<<`, `=`, and digits that are all underscores.
 */
export function resolvePlainScalar(text: string): Value | undefined {
  return scalarValue(scalarType(text), text);
}

/**
 * The value of `text` with the tag `tag:yaml.org,2002:<type>`.
 * @returns `undefined` if the type is unknown or the text is not of this type.
 */
export function scalarValue(type: string, text: string): Value | undefined {
  switch (type) {
    case "str":
    case "timestamp":
    case "python/unicode":
      return text;
    case "null":
      return null;
    case "bool":
      return BOOLS.get(text.toLowerCase());
    case "int":
      return parseInt(text);
    case "float":
      return parseFloat(text);
    case "binary":
      return decodeBase64(text);
    default:
      return undefined;
  }
}

const BOOLS = new Map([["yes", true], ["no", false], ["true", true], ["false", false], ["on", true], ["off", false]]);

/** Longest int that Python reads (`sys.int_info.default_max_str_digits`). */
const MAX_DIGITS = 4300;
/** Longest int of another base. Python reads longer ones; nothing would show them. */
const MAX_OTHER_DIGITS = 100_000;

function parseInt(text: string): Value | undefined {
  // Salt removes leading zeros. It looks only at the very start, so a signed number is still octal.
  let digits = /^0(?![bx])/.test(text) && text !== "0" ? text.replace(/^0+/, "") || "0" : text;
  digits = digits.replaceAll("_", "").trim();
  const negative = digits.startsWith("-");
  if (/^[-+]/.test(digits)) digits = digits.slice(1);
  if (digits.includes(":")) {
    // Python multiplies once for each part, which takes hours for a text of megabytes.
    if (digits.length > MAX_DIGITS || !/^[0-9]+(?::[0-9]+)+$/.test(digits)) return undefined;
    const total = digits.split(":").reduce((sum, part) => sum * 60n + BigInt(part), 0n);
    return int(negative ? -total : total);
  }
  if (/^0o?[0-7]+$/.test(digits)) digits = `0o${digits.replace("o", "").slice(1)}`;
  if (!/^(?:0|[1-9][0-9]*|0b[01]+|0x[0-9a-fA-F]+|0o[0-7]+)$/.test(digits)) return undefined;
  if (digits.length > (/^[1-9]/.test(digits) ? MAX_DIGITS : MAX_OTHER_DIGITS)) return undefined;
  const magnitude = BigInt(digits);
  return int(negative ? -magnitude : magnitude);
}

function parseFloat(text: string): Value | undefined {
  let digits = text.replaceAll("_", "").trim().toLowerCase();
  const sign = digits.startsWith("-") ? -1 : 1;
  if (/^[-+]/.test(digits)) digits = digits.slice(1);
  if (/^(?:\.inf|inf|infinity)$/.test(digits)) return sign * Infinity;
  if (/^\.?nan$/.test(digits)) return NaN;
  const parts = digits.split(":");
  if (!parts.every((part) => /^(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[-+]?[0-9]+)?$/.test(part))) return undefined;
  // Starts with the last part, as PyYAML does: floats give another result in another order.
  let total = 0;
  let base = 1;
  for (const part of parts.reverse()) {
    total += Number(part) * base;
    base *= 60;
  }
  return float(sign * total);
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/**
 * Base64 as Salt reads it: other characters are skipped, and padding is added to fit the length of the whole text.
 * (Salt before 3008 adds none.)
 */
function decodeBase64(text: string): Uint8Array | undefined {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return undefined;
  const padded = text.length % 4 === 0 ? text : text + "=".repeat(4 - text.length % 4);
  const out: number[] = [];
  let quad = 0; // number of characters read of the current group of four
  let rest = 0; // their bits that are not yet in `out`
  let pads = 0;
  for (const char of padded) {
    if (char === "=") {
      pads++;
      if (quad >= 2 && quad + pads >= 4) return Uint8Array.from(out);
      continue;
    }
    const bits = BASE64.indexOf(char);
    if (bits < 0) continue;
    pads = 0;
    if (quad > 0) out.push(((rest << 6 | bits) >> (6 - 2 * quad)) & 0xff);
    rest = bits;
    quad = (quad + 1) % 4;
  }
  return quad === 0 ? Uint8Array.from(out) : undefined;
}
