/**
 * Python's arithmetic on numbers: ints of any size, floats, and mixed operands.
 * Source: docs.python.org, "Numeric Types".
 * @module
 */

import { Float, float, int } from "#lib/values/value.ts";
import { pythonError } from "./errors.ts";
import { floatOf, intOf } from "./kinds.ts";
import type { Obj } from "./object.ts";

/** The operators of arithmetic. */
export type Operator = "+" | "-" | "*" | "/" | "//" | "%" | "**";

/** A number of Python. */
export type Numeric = number | bigint | Float;

type Int = number | bigint;

/** Results with more bits are refused: computing them would take too long. */
const MAX_BITS = 1 << 22;

/** The result for two numbers; `undefined` if one of them is none. */
export function arithmetic(operator: Operator, a: Obj, b: Obj): Numeric | undefined {
  const intA = intOf(a), intB = intOf(b);
  if (intA !== undefined && intB !== undefined) return INTS[operator](intA, intB);
  const floatA = intA ?? floatOf(a), floatB = intB ?? floatOf(b);
  if (floatA === undefined || floatB === undefined) return undefined;
  return FLOATS[operator](toFloat(floatA), toFloat(floatB));
}

/**
 * An int as a float.
 * @throws {PythonError} OverflowError if it is too large.
 */
export function toFloat(n: Int): number {
  const result = Number(n);
  if (typeof n === "bigint" && !Number.isFinite(result)) {
    throw pythonError("OverflowError", "int too large to convert to float");
  }
  return result;
}

/** The safe result of JavaScript's operator, else the exact one. */
function exact(result: number, slow: () => bigint): Int {
  return Number.isSafeInteger(result) ? result : boundInt(slow());
}

function boundInt(result: bigint): Int {
  if (result >> BigInt(MAX_BITS) !== 0n && result >> BigInt(MAX_BITS) !== -1n) {
    throw pythonError("MemoryError", `an int of more than ${MAX_BITS} bits`);
  }
  return int(result);
}

/** Whether JavaScript divides both exactly enough. */
function small(a: Int, b: Int): a is number {
  return typeof a === "number" && typeof b === "number" && Math.abs(a) < 2 ** 52 && Math.abs(b) < 2 ** 52;
}

function positive(n: number): number {
  return n === 0 ? 0 : n; // no -0 among ints
}

function modInts(a: Int, b: Int): Int {
  if (b === 0) throw pythonError("ZeroDivisionError", "integer modulo by zero");
  if (small(a, b)) {
    const rest = a % (b as number);
    return positive(rest !== 0 && (rest < 0) !== (b < 0) ? rest + (b as number) : rest);
  }
  const x = BigInt(a), y = BigInt(b);
  const rest = x % y;
  return int(rest !== 0n && (rest < 0n) !== (y < 0n) ? rest + y : rest);
}

function floorInts(a: Int, b: Int): Int {
  if (b === 0) throw pythonError("ZeroDivisionError", "integer division or modulo by zero");
  if (small(a, b)) return positive((a - (modInts(a, b) as number)) / (b as number));
  return int((BigInt(a) - BigInt(modInts(a, b))) / BigInt(b));
}

function divideInts(a: Int, b: Int): Numeric {
  if (b === 0) throw pythonError("ZeroDivisionError", "division by zero");
  if (small(a, b)) return float(positive(a / (b as number)));
  const x = BigInt(a), y = BigInt(b);
  const sizeX = x < 0n ? -x : x, sizeY = y < 0n ? -y : y;
  // 66 bits of the quotient, and whether there is a remainder: enough to round to the 53 bits of a float.
  const shift = 66 - (bitLength(sizeX) - bitLength(sizeY));
  const numerator = shift > 0 ? sizeX << BigInt(shift) : sizeX;
  const denominator = shift < 0 ? sizeY << BigInt(-shift) : sizeY;
  const quotient = numerator / denominator | (numerator % denominator === 0n ? 0n : 1n);
  const result = Number(quotient) * 2 ** -shift;
  if (!Number.isFinite(result)) throw pythonError("OverflowError", "integer division result too large for a float");
  return float((x < 0n) !== (y < 0n) ? -result : result);
}

/** The number of bits of a positive int. */
function bitLength(n: bigint): number {
  const hex = n.toString(16);
  return (hex.length - 1) * 4 + (32 - Math.clz32(parseInt(hex[0], 16)));
}

function powerInts(a: Int, b: Int): Numeric {
  if (b < 0) {
    if (a === 0) throw pythonError("ZeroDivisionError", "0.0 cannot be raised to a negative power");
    return powerFloats(toFloat(a), toFloat(b));
  }
  const base = BigInt(a);
  const size = base < 0n ? -base : base;
  if (size > 1n && Number(b) * bitLength(size) > MAX_BITS) {
    throw pythonError("MemoryError", `an int of more than ${MAX_BITS} bits`);
  }
  if (size <= 1n) return Number(base === -1n && BigInt(b) % 2n === 0n ? 1n : b === 0 ? 1n : base);
  return exact(Number(a) ** Number(b), () => base ** BigInt(b));
}

function powerFloats(a: number, b: number): Numeric {
  if (a === 0 && b < 0) throw pythonError("ZeroDivisionError", "0.0 cannot be raised to a negative power");
  if (a < 0 && Number.isFinite(b) && !Number.isInteger(b)) {
    throw pythonError(
      "ValueError",
      "a negative number cannot be raised to a fractional power: there are no complex numbers",
    );
  }
  // Python: 1 to any power, and -1 to an infinite one, are 1.
  const result = a === 1 || (a === -1 && !Number.isFinite(b) && !Number.isNaN(b)) ? 1 : a ** b;
  if (!Number.isFinite(result) && Number.isFinite(a) && Number.isFinite(b)) {
    throw pythonError("OverflowError", "(34, 'Numerical result out of range')");
  }
  return float(result);
}

function modFloats(a: number, b: number): number {
  if (b === 0) throw pythonError("ZeroDivisionError", "float modulo");
  const rest = a % b;
  if (rest === 0) return b < 0 ? -0 : 0;
  return (rest < 0) !== (b < 0) ? rest + b : rest;
}

function floorFloats(a: number, b: number): number {
  if (b === 0) throw pythonError("ZeroDivisionError", "float floor division by zero");
  if (!Number.isFinite(a)) return NaN;
  if (!Number.isFinite(b)) return Math.floor(a / b);
  const quotient = (a - modFloats(a, b)) / b;
  if (quotient === 0) return a / b < 0 || Object.is(a / b, -0) ? -0 : 0;
  const floor = Math.floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

const INTS: Readonly<Record<Operator, (a: Int, b: Int) => Numeric>> = {
  "+": (a, b) => exact(Number(a) + Number(b), () => BigInt(a) + BigInt(b)),
  "-": (a, b) => exact(Number(a) - Number(b), () => BigInt(a) - BigInt(b)),
  "*": (a, b) => exact(positive(Number(a) * Number(b)), () => BigInt(a) * BigInt(b)),
  "/": divideInts,
  "//": floorInts,
  "%": modInts,
  "**": powerInts,
};

const FLOATS: Readonly<Record<Operator, (a: number, b: number) => Numeric>> = {
  "+": (a, b) => float(a + b),
  "-": (a, b) => float(a - b),
  "*": (a, b) => float(a * b),
  "/": (a, b) => {
    if (b === 0) throw pythonError("ZeroDivisionError", "float division by zero");
    return float(a / b);
  },
  "//": (a, b) => float(floorFloats(a, b)),
  "%": (a, b) => float(modFloats(a, b)),
  "**": powerFloats,
};

/** Python's `-obj` of a number; `undefined` if it is none. */
export function negate(obj: Obj): Numeric | undefined {
  const int = intOf(obj);
  if (int !== undefined) return typeof int === "bigint" ? exact(Number(-int), () => -int) : positive(-int);
  const n = floatOf(obj);
  return n === undefined ? undefined : float(-n);
}
