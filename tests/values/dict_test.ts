import { copyMap, Dict, mapOf, PLAIN_ENTRIES } from "#lib/values/dict.ts";
import { hashBytesKeyed, hashTextKeyed, hashWords } from "#lib/values/keyed_hash.ts";
import { Float, repr, type Value } from "#lib/values/value.ts";
import { Random } from "#tests/fuzz/mutate.ts";
import {
  collidingDigits,
  collidingFloats,
  collidingInts,
  collidingLongInts,
  collidingTexts,
} from "#tests/fuzz/colliding_keys.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { cpuMs } from "#tests/support/time.ts";

/** Groups of keys that are equal in Python. */
const KEYS: readonly (readonly Value[])[] = [
  [1, new Float(1), true],
  [0, new Float(0), new Float(-0), false],
  ["1"],
  [""],
  ["\0"],
  [null],
  [new Uint8Array([0x31]), new Uint8Array([0x31])],
  [new Uint8Array()],
  [new Uint8Array([0, 0, 0, 0])],
  [new Uint8Array([0, 0, 0, 0, 0])],
  [-1, new Float(-1)],
  [0.5],
  [NaN],
  [Infinity, new Float(Infinity)],
  [2 ** 53 - 1, new Float(2 ** 53 - 1)],
  [2n ** 53n, new Float(2 ** 53)],
  [2n ** 53n + 1n],
  [2n ** 63n, new Float(2 ** 63)],
  [-(2n ** 63n), new Float(-(2 ** 63))],
  [2n ** 64n - 1n],
  [new Float(2 ** 64), 2n ** 64n],
  [new Float(1e300)],
  ["x".repeat(20_000)],
];

Deno.test("a Dict distinguishes keys as Python does, and keeps the first of equal ones", () => {
  const dict = new Dict();
  for (const [i, group] of KEYS.entries()) for (const key of group) dict.set(key, i);
  assertEquals([...dict.keys()], KEYS.map(([first]) => first));
  assertEquals([...dict.values()], KEYS.map((_, i) => i));
  for (const [i, group] of KEYS.entries()) {
    for (const key of group) assertEquals([dict.get(key), dict.has(key)], [i, true], repr(key));
  }
});

Deno.test("a Dict behaves like a Map for all operations", () => {
  const random = new Random("dict");
  for (let round = 0; round < 30; round++) {
    const map = new Map<Value, Value>();
    const dict = new Dict();
    for (let step = 0; step < 600; step++) {
      const key = random.chance(0.5) ? random.int(150) : random.chance(0.1) ? null : `key${random.int(150)}`;
      const act = random.int(1000);
      if (act === 0) map.clear(), dict.clear();
      else if (act < 250) assertEquals(dict.delete(key), map.delete(key));
      else assertEquals(dict.set(key, step) === dict, map.set(key, step) === map);
      assertEquals([dict.size, dict.get(key), dict.has(key)], [map.size, map.get(key), map.has(key)]);
    }
    const walked: unknown[] = [];
    dict.forEach((value, key, all) => walked.push([key, value, all === dict]));
    assertEquals(walked, [...map].map(([key, value]) => [key, value, true]));
    assertEquals([...dict], [...map]);
    assertEquals([[...dict.keys()], [...dict.values()], [...dict.entries()]], [
      [...map.keys()],
      [...map.values()],
      [...map.entries()],
    ]);
    assertEquals(new Map(dict), map);
  }
  const growing = new Dict<Value>([[0, 0]]);
  for (const [key] of growing) if (typeof key === "number" && key < 99) growing.set(key + 1, null);
  assertEquals([growing.size, Deno.inspect(new Dict([["a", 1]]))], [100, `Map(1) { "a" => 1 }`]);
});

Deno.test("a copy of a large map, or of a Dict, is a Dict; a small one is a Map", () => {
  const entries = Array.from({ length: PLAIN_ENTRIES + 1 }, (_, i): [Value, Value] => [i, i]);
  assert(copyMap(new Map(entries)) instanceof Dict && mapOf(entries) instanceof Dict);
  assert(copyMap(new Dict(entries.slice(0, 3))) instanceof Dict);
  const small = new Map(entries.slice(0, 3));
  assertEquals([copyMap(small), mapOf(entries.slice(0, 3)), new Dict(small).plain()], [small, small, small]);
  assert(new Dict(entries).plain() instanceof Dict && new Dict([["x".repeat(2_000), 1]]).plain() instanceof Dict);
  assert(!(new Dict([["x", 1]]).plain() instanceof Dict));
});

/** Keys that V8 puts into the same bucket of a Map. */
const COLLIDING: readonly (readonly [name: string, make: (count: number) => Value[], count: number])[] = [
  ["floats", collidingFloats, 20_000],
  ["ints of 64 bits", collidingLongInts, 10_000],
  ["ints of 32 bits", collidingInts, 20_000],
  ["numbers as text", collidingDigits, 20_000],
  ["long texts", collidingTexts, 1_000],
];

for (const [name, make, count] of COLLIDING) {
  Deno.test(`a Dict stores ${name} that collide in the runtime's tables as quickly as others`, () => {
    const keys = make(count);
    const fill = (map: Map<Value, Value>, some: readonly Value[]) =>
      cpuMs(() => {
        for (const key of some) map.set(key, null);
      });
    // Proves that they collide in a Map: ten times as many keys cost more than thirty times as much.
    const tenth = Math.min(fill(new Map(), keys.slice(0, count / 10)), fill(new Map(), keys.slice(0, count / 10)));
    const all = fill(new Map(), keys);
    const dict = new Dict();
    const here = fill(dict, keys);
    assertEquals(dict.size, count);
    assert(all > 30 * Math.max(tenth, 1), `Map: ${tenth} ms for a tenth of them, ${all} ms for all`);
    assert(here < all / 5, `Map: ${all} ms, Dict: ${here} ms`);
  });
}

/** HalfSipHash, written from the paper with plain numbers, to check the optimized version. */
function halfSipHash(words: readonly number[], keys: readonly [number, number]): number {
  let [v0, v1, v2, v3] = [keys[0], keys[1], 0x6c796765 ^ keys[0], 0x74656462 ^ keys[1]];
  const rotate = (x: number, by: number) => x << by | x >>> (32 - by);
  const round = () => {
    v0 = (v0 + v1) | 0, v1 = rotate(v1, 5) ^ v0, v0 = rotate(v0, 16);
    v2 = (v2 + v3) | 0, v3 = rotate(v3, 8) ^ v2;
    v0 = (v0 + v3) | 0, v3 = rotate(v3, 7) ^ v0;
    v2 = (v2 + v1) | 0, v1 = rotate(v1, 13) ^ v2, v2 = rotate(v2, 16);
  };
  for (const word of words) v3 ^= word, round(), v0 ^= word;
  v2 ^= 0xff;
  for (let i = 0; i < 3; i++) round();
  return v1 ^ v3;
}

const TEXTS = ["", "a", "é\u{1f9c2}", "salt", "salt!", "x".repeat(129)];
const BYTES = TEXTS.map((text) => new TextEncoder().encode(text));
const WORDS = [[0, 0], [1, -2]] as const;

const hashes = (
  hash: Pick<typeof import("#lib/values/keyed_hash.ts"), "hashTextKeyed" | "hashBytesKeyed" | "hashWords">,
) => [
  TEXTS.map((text) => hash.hashTextKeyed(text)),
  BYTES.map((bytes) => hash.hashBytesKeyed(bytes)),
  WORDS.map(([low, high]) => hash.hashWords(low, high)),
];

/**
 * The hashes of another thread.
 * @param key Replaces the thread's random key, unless `undefined`.
 */
async function elsewhere(key?: readonly number[]): Promise<number[][]> {
  const url = new URL("../../lib/values/keyed_hash.ts", import.meta.url);
  const code = `const key = ${JSON.stringify(key ?? null)};
    if (key !== null) crypto.getRandomValues = (array) => (array.set(key), array);
    const { hashTextKeyed, hashBytesKeyed, hashWords } = await import("${url}");
    const TEXTS = ${JSON.stringify(TEXTS)}, WORDS = ${JSON.stringify(WORDS)};
    const BYTES = TEXTS.map((text) => new TextEncoder().encode(text));
    const hashes = ${hashes};
    postMessage(hashes({ hashTextKeyed, hashBytesKeyed, hashWords }));`;
  const worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })), { type: "module" });
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
    });
  } finally {
    worker.terminate();
  }
}

Deno.test("the keyed hash is HalfSipHash-1-3 of each kind of input", async () => {
  const key = [0x12345678, -0x1234567] as const;
  const ofText = (text: string) => {
    const units = Array.from({ length: text.length & ~1 }, (_, i) => text.charCodeAt(i));
    const pairs = Array.from({ length: units.length / 2 }, (_, i) => units[2 * i] | units[2 * i + 1] << 16);
    const rest = text.length % 2 === 1 ? text.charCodeAt(text.length - 1) : 0;
    return [...pairs, text.length << 25 | rest];
  };
  const ofBytes = (bytes: Uint8Array) => {
    const whole = new Uint8Array((bytes.length & ~3) + 4);
    whole.set(bytes);
    whole[whole.length - 1] = bytes.length;
    return [...new Int32Array(whole.buffer)];
  };
  assertEquals(await elsewhere(key), [
    TEXTS.map((text) => halfSipHash(ofText(text), key)),
    BYTES.map((bytes) => halfSipHash(ofBytes(bytes), key)),
    WORDS.map((words) => halfSipHash(words, key)),
  ]);
});

Deno.test("the key of the hash differs in each thread", async () => {
  const here = hashes({ hashTextKeyed, hashBytesKeyed, hashWords });
  const there = await elsewhere();
  // The probability of an equal hash is about 1 in 4 billion.
  assertEquals(here.flat().filter((hash, i) => hash === there.flat()[i]), []);
});
