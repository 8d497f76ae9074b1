/**
 * Numbers from texts: Python's `int(text, base)` and `float(text)`.
 * Source: docs.python.org, "int", "float".
 * @module
 */

import { type Float, float, int } from "#lib/values/value.ts";
import { strip } from "#lib/values/python_text.ts";

const BASES: Readonly<Record<string, number>> = { b: 2, o: 8, x: 16 };

/**
 * Longer texts are not numbers: reading them would take long. Python has no such bound for bases that are powers of
 * two.
 */
const MAX_DIGITS = 4300;
const MAX_BINARY_DIGITS = 100_000;

/**
 * The int; `undefined` if the text is none.
 * @param base 2 to 36, or 0 for the one that its prefix says.
 */
export function parseInteger(text: string, base: number): number | bigint | undefined {
  const match = /^([+-]?)(?:0([bBoOxX])(?=_?[\da-zA-Z]))?(_?[\da-zA-Z]+(?:_[\da-zA-Z]+)*)$/.exec(strip(text));
  if (match === null) return undefined;
  const [, sign, prefix, rest] = match;
  const prefixed = prefix === undefined ? undefined : BASES[prefix.toLowerCase()];
  // `0b1` is the number 177 of base 16, where the prefix is none.
  const isPrefixed = prefixed !== undefined && (base === 0 || base === prefixed);
  const used = base === 0 ? prefixed ?? 10 : base;
  const all = isPrefixed ? rest : prefix === undefined ? rest : `0${prefix}${rest}`;
  if (!isPrefixed && all.startsWith("_")) return undefined;
  const digits = all.replaceAll("_", "").toLowerCase();
  if (base === 0 && prefixed === undefined && /^0+[1-9]/.test(digits)) return undefined;
  const isBinary = (used & (used - 1)) === 0;
  if (digits.length > (isBinary ? MAX_BINARY_DIGITS : MAX_DIGITS)) return undefined;
  const values = Array.from(digits, (digit) => parseInt(digit, 36));
  if (values.some((value) => value >= used)) return undefined;
  const value = isBinary ? fromBits(values, Math.log2(used)) : fromDigits(values, BigInt(used));
  return int(sign === "-" ? -value : value);
}

/**
 * The number whose digits have `bits` bits each. It takes time in proportion to them, where a sum takes their square.
 */
function fromBits(digits: readonly number[], bits: number): bigint {
  return BigInt(`0b${digits.map((digit) => digit.toString(2).padStart(bits, "0")).join("")}`);
}

function fromDigits(digits: readonly number[], base: bigint): bigint {
  return digits.reduce((sum, digit) => sum * base + BigInt(digit), 0n);
}

/** The float; `undefined` if the text is none. */
export function parseFloatText(text: string): number | Float | undefined {
  const bare = strip(text);
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(bare);
  if (special !== null) {
    const value = special[2].toLowerCase() === "nan" ? NaN : Infinity;
    return float(special[1] === "-" ? -value : value);
  }
  if (!/^[+-]?(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?$/.test(bare)) {
    return undefined;
  }
  return float(Number(bare.replaceAll("_", "")));
}
