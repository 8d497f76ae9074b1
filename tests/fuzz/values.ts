/**
 * Unexpected values and msgpack: random ones, mutations of valid ones, and bytes in the grammar of msgpack with false
 * lengths, nesting and types.
 * @module
 */

import { Float, type Value, type ValueMap } from "#lib/values/value.ts";
import { NASTY_TEXTS, type Random } from "./mutate.ts";

const NUMBERS: readonly Value[] = [
  ...[
    0,
    1,
    -1,
    127,
    128,
    255,
    256,
    -32,
    -33,
    65_535,
    65_536,
    2 ** 31,
    2 ** 32,
    -(2 ** 31) - 1,
    Number.MAX_SAFE_INTEGER,
  ],
  ...[2n ** 63n, 2n ** 64n - 1n, 2n ** 64n, -(2n ** 63n), -(2n ** 63n) - 1n, 10n ** 400n],
  ...[0.5, NaN, Infinity, -Infinity, 5e-324, new Float(1), new Float(-0), new Float(1e300)],
];

/**
 * A value of any type.
 * @param depth Maximum depth of nested lists and maps.
 */
export function randomValue(random: Random, depth = 3): Value {
  switch (random.int(depth > 0 ? 9 : 6)) {
    case 0:
      return random.pick(NUMBERS);
    case 1:
      return random.pick([null, true, false]);
    case 2:
      return random.bits() % 1000;
    case 3:
      return random.bytes(random.length(600));
    case 4:
    case 5:
      return random.pick(NASTY_TEXTS);
    case 6:
      return nested(random, random.pick([1, 2, 20, 300, 505, 511, 512, 513, 700]));
    case 7:
      return Array.from({ length: random.length(40) }, () => randomValue(random, depth - 1));
    default: {
      const map: ValueMap = new Map();
      for (let count = random.length(20); count > 0; count--) {
        map.set(random.chance(0.8) ? random.pick(NASTY_TEXTS) : random.pick(NUMBERS), randomValue(random, depth - 1));
      }
      return map;
    }
  }
}

function nested(random: Random, depth: number): Value {
  let value: Value = random.pick(NASTY_TEXTS);
  const list = random.chance(0.5);
  for (let i = 0; i < depth; i++) value = list ? [value] : new Map([["a", value]]);
  return value;
}

/** `map` with one to three changed fields: removed, of another type, renamed, or with a changed value. */
export function mutateMap(random: Random, map: ValueMap): ValueMap {
  let mutated: ValueMap = new Map(map);
  for (let times = 1 + random.int(3); times > 0; times--) {
    const keys = [...mutated.keys()];
    const key = keys.length === 0 ? "cmd" : random.pick(keys);
    switch (random.int(6)) {
      case 0:
        mutated.delete(key);
        break;
      case 1:
        mutated.set(random.chance(0.9) ? random.pick(NASTY_TEXTS) : randomValue(random, 1), randomValue(random));
        break;
      case 2:
        mutated = new Map([...mutated].sort(() => random.int(3) - 1));
        break;
      case 3:
        mutated.set(key, mutateInside(random, mutated.get(key) ?? null));
        break;
      default:
        mutated.set(key, randomValue(random));
    }
  }
  return mutated;
}

function mutateInside(random: Random, value: Value): Value {
  if (value instanceof Map) return mutateMap(random, value);
  if (Array.isArray(value)) {
    return value.length === 0
      ? [randomValue(random)]
      : value.map((v) => random.chance(0.5) ? mutateInside(random, v) : v);
  }
  if (typeof value === "string") {
    return random.chance(0.5) ? value + random.pick(NASTY_TEXTS) : random.pick(NASTY_TEXTS) + value;
  }
  if (value instanceof Uint8Array) return value.slice(0, random.int(value.length + 1));
  return randomValue(random);
}

/** Bytes that begin like msgpack, but are hostile. */
export function randomMsgpack(random: Random): Uint8Array {
  const out: number[] = [];
  writeItem(random, out, 4);
  if (random.chance(0.1)) out.push(...random.bytes(random.length(20)));
  return Uint8Array.from(out);
}

const LENGTH_BYTES: Readonly<Record<number, number>> = {
  ...{
    0xc4: 1,
    0xc5: 2,
    0xc6: 4,
    0xc7: 1,
    0xc8: 2,
    0xc9: 4,
    0xd9: 1,
    0xda: 2,
    0xdb: 4,
    0xdc: 2,
    0xdd: 4,
    0xde: 2,
    0xdf: 4,
  },
};
const FIXED_BYTES: Readonly<Record<number, number>> = {
  ...{ 0xca: 4, 0xcb: 8, 0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8, 0xd0: 1, 0xd1: 2, 0xd2: 4, 0xd3: 8 },
  ...{ 0xd4: 2, 0xd5: 3, 0xd6: 5, 0xd7: 9, 0xd8: 17 },
};
const KEYS = [
  [0xa1, 0x61],
  [0xa1, 0x61],
  [0x01],
  [0xc3],
  [0xcb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0],
  [0xc4, 1, 0x61],
  [0xc0],
  [0x90],
  [0x80],
];

function writeItem(random: Random, out: number[], depth: number): void {
  if (random.chance(0.03)) return nestMsgpack(random, out);
  const code = random.bits() & 0xff;
  out.push(code);
  if (code in FIXED_BYTES) return void out.push(...random.bytes(FIXED_BYTES[code]));
  let size = code < 0x80 || code >= 0xe0 ? 0 : code < 0xa0 ? code & 0x0f : code < 0xc0 ? code & 0x1f : 0;
  if (code in LENGTH_BYTES) {
    size = random.length(60);
    const claimed = random.chance(0.15) ? random.bits() : size;
    for (let byte = LENGTH_BYTES[code] - 1; byte >= 0; byte--) out.push((claimed >>> (8 * byte)) & 0xff);
  }
  const isMap = (code >= 0x80 && code < 0x90) || code === 0xde || code === 0xdf;
  const isList = (code >= 0x90 && code < 0xa0) || code === 0xdc || code === 0xdd;
  if (isMap || isList) {
    if (depth === 0) return;
    for (; size > 0 && out.length < 20_000; size--) {
      if (isMap) out.push(...random.chance(0.8) ? random.pick(KEYS) : random.bytes(1));
      writeItem(random, out, depth - 1);
    }
  } else if (size > 0) {
    const extension = code >= 0xc7 && code <= 0xc9;
    if (extension) out.push(random.pick([78, 0, 5, 0xff]));
    const text = random.chance(0.5) || extension
      ? [..."20240102T03:04:05.000006é"].map((c) => c.charCodeAt(0) & 0xff)
      : [];
    for (let i = 0; i < size; i++) out.push(text[i] ?? random.bits() & 0xff);
  }
}

/** Nested lists or maps, each with the largest allowed length. */
function nestMsgpack(random: Random, out: number[]): void {
  const layer = random.pick([[0x91], [0x81, 0xa1, 0x61], [0x81], [0xdd, 0, 0, 0, 1], [0xdd, 0, 0, 0x20, 0], [
    0xdf,
    0,
    0,
    0,
    1,
    1,
  ]]);
  for (let count = random.pick([10, 400, 511, 513, 5_000, 20_000]); count > 0; count--) out.push(...layer);
  out.push(0xc0);
}
