/**
 * Decimal texts of floats, rounded as Python rounds them: exactly, and halves to the even digit. JavaScript's `toFixed`
 * rounds halves up. Source: docs.python.org, "Format Specification Mini-Language".
 * @module
 */

const bits = new DataView(new ArrayBuffer(8));

/** A positive finite float as `mantissa * 2 ** exponent`. */
function decompose(x: number): { mantissa: bigint; exponent: number } {
  bits.setFloat64(0, x);
  const raw = bits.getBigUint64(0);
  const biased = Number((raw >> 52n) & 0x7ffn);
  const fraction = raw & 0xfffffffffffffn;
  return biased === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | 0x10000000000000n, exponent: biased - 1075 };
}

/** `numerator / denominator`, rounded to an int, halves to the even one. */
export function divideRounded(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  const twice = (numerator - quotient * denominator) * 2n;
  if (twice < denominator || (twice === denominator && quotient % 2n === 0n)) return quotient;
  return quotient + 1n;
}

/** `x * 10 ** digits`, rounded to an int. */
function scale(x: number, digits: number): bigint {
  const { mantissa, exponent } = decompose(x);
  let numerator = mantissa, denominator = 1n;
  if (digits >= 0) numerator *= 10n ** BigInt(digits);
  else denominator *= 10n ** BigInt(-digits);
  if (exponent >= 0) numerator <<= BigInt(exponent);
  else denominator <<= BigInt(-exponent);
  return divideRounded(numerator, denominator);
}

/** The digits of a finite `x` without its sign, with `digits` of them after the point. */
export function fixedText(x: number, digits: number): string {
  const all = String(scale(Math.abs(x), digits)).padStart(digits + 1, "0");
  return digits === 0 ? all : `${all.slice(0, -digits)}.${all.slice(-digits)}`;
}

/** The digits of a finite `x` without its sign: `digits + 1` of them, and the exponent of the first. */
export function exponentDigits(x: number, digits: number): { readonly text: string; readonly exponent: number } {
  const size = Math.abs(x);
  if (size === 0) return { text: "0".repeat(digits + 1), exponent: 0 };
  let exponent = Number(size.toExponential().split("e")[1]);
  let text = String(scale(size, digits - exponent));
  if (text.length > digits + 1) {
    exponent++;
    text = String(scale(size, digits - exponent));
  }
  return { text, exponent };
}

/** Python's `round(x, digits)` of a float. */
export function roundFloat(x: number, digits: number): number {
  if (!Number.isFinite(x) || digits > 323) return x;
  if (digits < -308) return x < 0 ? -0 : 0;
  const size = digits >= 0 ? Number(fixedText(x, digits)) : Number(scale(Math.abs(x), digits) * 10n ** BigInt(-digits));
  return x < 0 || Object.is(x, -0) ? -size : size;
}
