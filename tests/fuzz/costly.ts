/**
 * Values that need much time if the reader's tables or loops are not made for them: colliding keys, byte strings as
 * keys, deep nesting, many small values, long texts.
 * @module
 */

import { Dict } from "#lib/values/dict.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";
import {
  collidingDigits,
  collidingFloats,
  collidingInts,
  collidingLongInts,
  collidingTexts,
} from "./colliding_keys.ts";
import type { Random } from "./mutate.ts";

/** Number of keys of one kind: enough that costly keys differ measurably from cheap ones. */
const KEYS = 16_000;
const LONG_KEYS = 40;
const LONG = 300_000;

const made = new Map<string, Value[]>();

/** Number of keys that take longer to make than to read. */
function keys(name: string, make: () => Value[]): Value[] {
  let known = made.get(name);
  if (known === undefined) made.set(name, known = make());
  return known;
}

const KEY_KINDS: readonly (() => Value[])[] = [
  () => keys("floats", () => collidingFloats(KEYS)),
  () => keys("ints", () => collidingInts(KEYS)),
  () => keys("long ints", () => collidingLongInts(KEYS)),
  () => keys("digits", () => collidingDigits(KEYS)),
  () => keys("texts", () => collidingTexts(LONG_KEYS)),
  () => keys("bytes", () => Array.from({ length: KEYS }, (_, i) => Uint8Array.of(0xff, i >> 8, i, 0xff))),
  () => keys("equal texts", () => Array(KEYS).fill("k")),
];

/** A map with `count` of the keys `some`, from a random position. */
function keyed(random: Random, some: readonly Value[], count: number): ValueMap {
  const from = random.int(Math.max(1, some.length - count));
  return new Dict(some.slice(from, from + count).map((key) => [key, null]));
}

/** A value of one of these kinds, of up to some hundred kilobytes. */
export function costlyValue(random: Random): Value {
  const some = random.pick(KEY_KINDS)();
  switch (random.int(8)) {
    case 0: { // each of the largest size that does not count as a large map
      const count = Math.min(some.length, random.pick([900, 1_000]));
      return Array.from({ length: 6 }, () => keyed(random, some, count));
    }
    case 1:
      return new Map([[new Uint8Array(random.pick([100, 4_096, 4_097, LONG])).fill(0xff), null]]);
    case 2: {
      let value: Value = random.pick([null, new Map([["a", null]])]);
      for (let depth = random.pick([90, 400, 480]); depth > 0; depth--) value = [value, "x".repeat(100)];
      return value;
    }
    case 3:
      return Array(30_000).fill(random.pick<Value>([0, null, "x", [], new Map(), new Map([["a", 1]])]));
    case 4:
      return random.pick(["x", "é", "\ud800", "\0", "\u{1f9c2}"]).repeat(LONG / 4);
    default:
      return keyed(random, some, some.length);
  }
}

/** A valid value of about this many bytes, with the types that returns contain. */
export function ordinaryValue(bytes: number): ValueMap {
  const entry = (i: number) =>
    new Map<Value, Value>([[`name-of-package-${i}`, `1.2.${i}-3`], ["installed", true], ["size", i], ["tags", [
      "a",
      "b",
    ]]]);
  return new Map(Array.from({ length: Math.ceil(bytes / 70) }, (_, i): [Value, Value] => [`entry ${i}`, entry(i)]));
}
