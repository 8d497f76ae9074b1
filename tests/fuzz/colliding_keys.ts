/**
 * Makes keys that collide in the runtime's own hash tables, as an attacker would send them to block a master.
 *
 * V8 hashes a number without a seed, by invertible functions: an attacker chooses the hashes and computes the numbers.
 * A table of n entries has about n/2 buckets, selected by the lowest bits of the hash, so hashes with equal lowest bits
 * are enough. The hash of a text that is an array index is that index. Source: v8/src/base/hashing.h and
 * v8/src/utils/utils.h (ComputeLongHash, ComputeUnseededHash), of V8 15.
 * @module
 */

import { float, int, type Value } from "#lib/values/value.ts";

const BITS_64 = 64;
const ONES_64 = 2n ** 64n - 1n;

/** The inverse of an odd number modulo 2^64, by Newton's method: each round doubles the number of correct bits. */
function inverse(odd: bigint): bigint {
  let guess = odd;
  for (let round = 0; round < 6; round++) guess = (guess * (2n - odd * guess)) & ONES_64;
  return guess;
}

/** Undoes `x ^= x >> shift`. */
function unshift(x: bigint, shift: number): bigint {
  let result = x;
  for (let known = shift; known < BITS_64; known += shift) result = x ^ (result >> BigInt(shift));
  return result;
}

const OVER_65 = inverse(65n);
const OVER_21 = inverse(21n);
/** `~x + (x << 18)` is `x * (2^18 - 1) - 1`. */
const OVER_18_BITS = inverse(2n ** 18n - 1n);

/** The 64 bits whose ComputeLongHash, before it is cut to 30 bits, is `hash`. */
function unhash64(hash: bigint): bigint {
  let x = unshift(hash, 22);
  x = (x * OVER_65) & ONES_64;
  x = unshift(x, 11);
  x = (x * OVER_21) & ONES_64;
  x = unshift(x, 31);
  return ((x + 1n) * OVER_18_BITS) & ONES_64;
}

const ONES_32 = 2n ** 32n - 1n;

function unshift32(x: bigint, shift: number): bigint {
  let result = x;
  for (let known = shift; known < 32; known += shift) result = x ^ (result >> BigInt(shift));
  return result & ONES_32;
}

/** The int of 32 bits whose ComputeUnseededHash, before it is cut to 30 bits, is `hash`. */
function unhash32(hash: bigint): number {
  let x = unshift32(hash, 16);
  x = (x * inverse(2057n)) & ONES_32;
  x = unshift32(x, 4);
  x = (x * inverse(5n)) & ONES_32;
  x = unshift32(x, 12);
  x = ((x + 1n) * inverse(2n ** 15n - 1n)) & ONES_32;
  return Number(BigInt.asIntN(32, x));
}

const double = new DataView(new ArrayBuffer(8));

/** Floats with a fraction, all of one hash. */
export function collidingFloats(count: number): Value[] {
  const floats: Value[] = [];
  for (let high = 1n; floats.length < count; high++) {
    double.setBigUint64(0, unhash64(high << 30n));
    const candidate = double.getFloat64(0);
    // Numbers without a fraction are another kind of key here.
    if (Number.isFinite(candidate) && !Number.isInteger(candidate)) floats.push(float(candidate));
  }
  return floats;
}

/** Ints of 54 to 64 bits, all of one hash. */
export function collidingLongInts(count: number): Value[] {
  const ints: Value[] = [];
  for (let high = 1n; ints.length < count; high++) {
    const candidate = unhash64(high << 30n);
    if (candidate > 2n ** 53n) ints.push(int(candidate));
  }
  return ints;
}

/**
 * 32-bit ints whose hashes have the same 16 lowest bits.
 * @param count At most 65,536.
 */
export function collidingInts(count: number): Value[] {
  return Array.from({ length: count }, (_, i) => unhash32(BigInt(i) << 16n));
}

/**
 * Numbers as text with the same 16 lowest bits.
 * @param count At most 65,535.
 */
export function collidingDigits(count: number): Value[] {
  return Array.from({ length: count }, (_, i) => String((i + 1) * 65_536));
}

/** Texts of the same length above 16,383: V8 then hashes only the length. They differ only in their last characters. */
export function collidingTexts(count: number): Value[] {
  const stem = "x".repeat(16_400);
  return Array.from({ length: count }, (_, i) => stem + String(i).padStart(8, "0"));
}
