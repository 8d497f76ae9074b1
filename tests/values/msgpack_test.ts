import { Dict } from "#lib/values/dict.ts";
import { MsgpackError } from "#lib/errors.ts";
import { type Bounds, decode, type Dialect, encode, MAX_DEPTH, type Packable, Packed } from "#lib/values/msgpack.ts";
import { Float, float, int, type Value } from "#lib/values/value.ts";
import {
  collidingDigits,
  collidingFloats,
  collidingInts,
  collidingLongInts,
  collidingTexts,
} from "#tests/fuzz/colliding_keys.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { cpuMs } from "#tests/support/time.ts";
import { fromTyped, readCorpus, type Typed } from "#tests/support/typed_values.ts";

/** `value` with Maps in place of Dicts, which the test runner compares as different objects. */
function plainMaps(value: Value): Value {
  if (Array.isArray(value)) return value.map(plainMaps);
  return value instanceof Map ? new Map([...value].map(([key, item]) => [key, plainMaps(item)])) : value;
}

const DIALECTS: Dialect[] = ["wire", "disk"];

/** Base64, or for long data the length, the first bytes and a hash. */
type Bytes = string | [number, string, string];

interface Written {
  value: Typed;
  wire: Bytes;
  disk: Bytes;
  /** The value that Python decodes, if it differs. */
  wire_reads?: Typed;
  disk_reads?: Typed;
}

interface Read {
  name: string;
  bytes: string;
  /** The value that Python decodes; absent if it refuses the bytes. */
  wire?: Typed;
  disk?: Typed;
}

const corpus = await readCorpus<Written | Read>("msgpack.json");
const written = corpus.filter((entry) => "value" in entry);
const read = corpus.filter((entry) => "name" in entry);

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

async function shortened(bytes: Uint8Array): Promise<Bytes> {
  if (bytes.length < 300) return toBase64(bytes);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes)));
  const hex = Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [bytes.length, toBase64(bytes.subarray(0, 8)), hex];
}

/** A generator of numbers from 0 to 1, the same at each run. */
function seeded(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function randomValue(random: () => number, depth: number): Value {
  const below = (n: number) => Math.floor(random() * n);
  const text = () =>
    Array.from({ length: below(60) }, () => String.fromCodePoint(below(3) ? below(128) : below(0xd800)));
  switch (below(depth > 0 ? 10 : 8)) {
    case 0:
      return [null, true, false][below(3)];
    case 1:
      return int(BigInt(Math.floor((random() - 0.5) * 2 ** below(54))));
    case 2:
      return int(BigInt.asIntN(64, BigInt(below(2 ** 32)) << BigInt(below(33))));
    case 3:
      return float((random() - 0.5) * 10 ** (below(40) - 20));
    case 4:
      return new Float(below(100));
    case 5:
    case 6:
      return text().join("");
    case 7:
      // Invalid UTF-8, so that it is decoded as bytes in both dialects.
      return Uint8Array.from({ length: below(300) + 1 }, (_, i) => i === 0 ? 0xff : below(256));
    case 8:
      return Array.from({ length: below(20) }, () => randomValue(random, depth - 1));
    default:
      return new Map(Array.from({ length: below(20) }, (): [Value, Value] => [
        below(4) ? text().join("") : below(1000),
        randomValue(random, depth - 1),
      ]));
  }
}

for (const dialect of DIALECTS) {
  Deno.test(`encode() writes the ${dialect} dialect's bytes as Python does`, async () => {
    for (const entry of written) {
      assertEquals(await shortened(encode(fromTyped(entry.value), dialect)), entry[dialect], JSON.stringify(entry));
    }
  });

  Deno.test(`decode() reads the ${dialect} dialect as Python does`, () => {
    for (const entry of written) {
      const value = fromTyped(entry.value);
      const expected = fromTyped(entry[`${dialect}_reads`] ?? entry.value);
      assertEquals(plainMaps(decode(encode(value, dialect), dialect)), expected, JSON.stringify(entry));
    }
  });

  Deno.test(`decode() reads or refuses foreign bytes in the ${dialect} dialect as Python does`, () => {
    for (const entry of read) {
      const bytes = fromBase64(entry.bytes);
      const expected = entry[dialect];
      if (expected === undefined) assertThrows(() => decode(bytes, dialect), MsgpackError, "", entry.name);
      else assertEquals(decode(bytes, dialect), fromTyped(expected), entry.name);
    }
  });

  Deno.test(`decode() restores any value that encode() wrote in the ${dialect} dialect`, () => {
    const random = seeded(1);
    for (let i = 0; i < 500; i++) {
      const value = randomValue(random, 4);
      assertEquals(decode(encode(value, dialect), dialect), value);
    }
  });

  Deno.test(`decode() refuses every truncation of a value in the ${dialect} dialect`, () => {
    const random = seeded(2);
    for (let i = 0; i < 100; i++) {
      const bytes = encode(randomValue(random, 2), dialect);
      for (let length = 0; length < bytes.length; length += bytes.length > 500 ? 37 : 1) {
        assertThrows(() => decode(bytes.subarray(0, length), dialect), MsgpackError);
      }
    }
  });

  Deno.test(`decode() of random bytes in the ${dialect} dialect throws nothing but MsgpackError`, () => {
    const random = seeded(3);
    let refused = 0;
    for (let i = 0; i < 20_000; i++) {
      const bytes = Uint8Array.from({ length: 1 + Math.floor(random() * 40) }, () => random() * 256);
      try {
        decode(bytes, dialect);
      } catch (error) {
        assert(error instanceof MsgpackError, `${bytes}: ${error}`);
        refused++;
      }
    }
    assert(refused > 1000, `only ${refused} were refused`);
  });
}

Deno.test("decode() reads bytes in the text family of the disk dialect as bytes", () => {
  assertEquals(decode(Uint8Array.of(0xa2, 0xff, 0x61), "disk"), Uint8Array.of(0xff, 0x61));
  assertEquals(decode(Uint8Array.of(0xa2, 0xc3, 0xa9), "disk"), "é");
});

Deno.test("decode() distinguishes text from bytes at any position of the first invalid byte", () => {
  for (const length of [40, 60, 255, 256, 257, 300, 70_000]) {
    for (const at of [0, 1, 47, 254, 255, 256, length - 1]) {
      const bytes = new TextEncoder().encode("aé".repeat(length)).slice(0, length - length % 3);
      assertEquals(decode(encode(bytes, "wire"), "wire"), new TextDecoder().decode(bytes));
      if (at >= bytes.length) continue;
      bytes[at] = 0xff;
      assertEquals(decode(encode(bytes, "wire"), "wire"), bytes);
    }
  }
});

Deno.test("decode() refuses extension types that are not Salt's", () => {
  for (const type of [0, 77, 79, 0xff]) assertThrows(() => decode(Uint8Array.of(0xd4, type, 0), "wire"), MsgpackError);
});

Deno.test("decode() makes a value that shares no memory with its input", () => {
  const bytes = Uint8Array.of(0xc4, 2, 0xff, 0xfe);
  const value = decode(bytes, "disk");
  bytes.fill(0);
  assertEquals(value, Uint8Array.of(0xff, 0xfe));
});

Deno.test("decode() reads from within a larger buffer", () => {
  const buffer = Uint8Array.of(1, 2, 0xcd, 0x01, 0x00, 9);
  assertEquals(decode(buffer.subarray(2, 5), "wire"), 256);
});

Deno.test("encode() does not change its earlier results", () => {
  const first = encode("first", "wire");
  encode("other", "wire");
  assertEquals(decode(first, "wire"), "first");
});

Deno.test("encode() grows its buffer for every kind of value", () => {
  const kinds: Value[] = [
    null,
    1,
    -100,
    300,
    -30_000,
    2 ** 31,
    -(2 ** 31),
    2 ** 40,
    2n ** 60n,
    0.5,
    "ab",
    "é",
    new Map(),
  ];
  for (const kind of [...kinds, new Float(1), Uint8Array.of(0xff), "x".repeat(20_000)]) {
    // Large enough that the buffer is released, and has to grow again.
    encode("x".repeat(400_000), "wire");
    const list = new Array(20_000 / (typeof kind === "string" && kind.length > 9 ? 1000 : 1)).fill(kind);
    assertEquals(decode(encode(list, "disk"), "disk"), list);
  }
});

Deno.test("encode() writes lone surrogates as replacement characters", () => {
  assertEquals(decode(encode("a\ud800b", "wire"), "wire"), "a\ufffdb");
  assertEquals(decode(encode("\udc00".repeat(100), "disk"), "disk"), "\ufffd".repeat(100));
});

Deno.test("encode() and decode() accept a depth of MAX_DEPTH, but no more", () => {
  let deep: Value = 1;
  for (let i = 0; i < MAX_DEPTH; i++) deep = i % 2 ? [deep] : new Map([["k", deep]]);
  assertEquals(decode(encode(deep, "wire"), "wire"), deep);
  assertThrows(() => encode([deep], "wire"), MsgpackError);
  assertThrows(() => decode(new Uint8Array(MAX_DEPTH + 2).fill(0x91), "wire"), MsgpackError, "deep");
});

Deno.test("encode() writes an integer of any type the same way, and refuses other objects", () => {
  for (const dialect of DIALECTS) {
    assertEquals(encode(5n, dialect), encode(5, dialect));
    assertEquals(encode(2 ** 60, dialect), encode(2n ** 60n, dialect));
    assertEquals(decode(encode(-(2 ** 60), dialect), dialect), -(2n ** 60n));
  }
  const none: unknown[] = [undefined, () => 1, { a: 1 }];
  for (const wrong of none) {
    const error = assertThrows(() => encode(wrong as Packable, "wire"), MsgpackError);
    assertEquals(error.message, `Cannot write a ${typeof wrong}`);
  }
});

Deno.test("encode() refuses a structure that contains itself", () => {
  const list: Value[] = [];
  list.push(list);
  assertThrows(() => encode(list, "wire"), MsgpackError);
  assertEquals(encode(1, "wire"), Uint8Array.of(1));
});

Deno.test("decode() of lists that each claim the rest of the input allocates little", () => {
  const bytes = new Uint8Array(4_000_000);
  for (let i = 0; i < 500 * 5; i += 5) bytes.set([0xdd, 0x00, 0x3c, 0x00, 0x00], i);
  const before = Deno.memoryUsage().rss;
  assertThrows(() => decode(bytes, "wire"), MsgpackError);
  assert(Deno.memoryUsage().rss - before < 500e6);
});

/** Maps that an accepted minion may return. Each is expensive for a hash table whose buckets the sender can choose. */
const MANY_KEYS: readonly (readonly [name: string, keys: () => Value[]])[] = [
  ["100,000 ints", () => Array.from({ length: 100_000 }, (_, i) => i)],
  ["100,000 byte strings", () => Array.from({ length: 100_000 }, (_, i) => Uint8Array.of(0xff, i >> 16, i >> 8, i))],
  ["60,000 colliding floats", () => collidingFloats(60_000)],
  ["60,000 colliding ints", () => collidingInts(60_000)],
  ["60,000 colliding ints of 64 bits", () => collidingLongInts(60_000)],
  ["60,000 colliding numbers as text", () => collidingDigits(60_000)],
  ["2,000 colliding long texts", () => collidingTexts(2_000)],
];

for (const [name, make] of MANY_KEYS) {
  Deno.test(`decode() of a map with ${name} as keys costs no more than other maps of its size`, () => {
    const keys = make();
    const frame = encode(new Map<Value, Value>([["return", new Dict(keys.map((key) => [key, null]))]]), "wire");
    const texts = new Map(Array.from({ length: frame.length / 20 }, (_, i) => [`an ordinary key ${i}`, null]));
    const ordinary = encode(texts, "wire");
    const min = (bytes: Uint8Array) => Math.min(...[1, 2, 3].map(() => cpuMs(() => decode(bytes, "wire"))));
    const decoded = decode(frame, "wire");
    const inner = decoded instanceof Map ? decoded.get("return") : undefined;
    assert(inner instanceof Dict && inner.size === keys.length);
    assertEquals([...inner.keys()], keys);
    // 20 times, plus the error of a clock with a hundred ticks a second.
    const [costs, bound] = [min(frame), 20 * min(ordinary) + 20];
    assert(costs < bound, `${costs} ms for ${frame.length} bytes; ${bound / 20} ms for ${ordinary.length}`);
  });
}

const BOUNDS: Bounds = { memory: 1_000, depth: 10, keyBytes: 50, otherKeys: 5 };

/** Values just within the limits, and just beyond them. */
const AT_THE_BOUNDS: readonly (readonly [name: string, within: Value, beyond: Value])[] = [
  ["entries", Array(984).fill(0), Array(985).fill(0)],
  ["depth", nested(10), nested(11)],
  ["length of a key", new Map([["k".repeat(50), 1]]), new Map([["k".repeat(51), 1]])],
  ["ints as keys", new Map([1, 2, 3, 4, 5].map((key) => [key, 0])), new Map([1, 2, 3, 4, 5, 6].map((key) => [key, 0]))],
  ["floats as keys of several maps", Array(5).fill(new Map([[0.5, 1]])), Array(6).fill(new Map([[0.5, 1]]))],
  [
    "byte strings as keys",
    new Map([1, 2, 3, 4, 5].map((byte) => [Uint8Array.of(0xff, byte), 0])),
    new Map([1, 2, 3, 4, 5, 6].map((byte) => [Uint8Array.of(0xff, byte), 0])),
  ],
];

function nested(depth: number): Value {
  let value: Value = null;
  for (let i = 0; i < depth; i++) value = [value];
  return value;
}

for (const [name, within, beyond] of AT_THE_BOUNDS) {
  Deno.test(`decode() applies the given limits: ${name}`, () => {
    for (const dialect of DIALECTS) {
      assertEquals(decode(encode(within, dialect), dialect, BOUNDS), within);
      assertThrows(() => decode(encode(beyond, dialect), dialect, BOUNDS), MsgpackError);
      assertEquals(decode(encode(beyond, dialect), dialect), beyond);
    }
  });
}

Deno.test("decode() refuses a byte string of more than 4,096 bytes as a key, from any sender", () => {
  const keyed = (length: number) => encode(new Map([[new Uint8Array(length).fill(0xff), 1]]), "wire");
  assertEquals(decode(keyed(4_096), "wire"), new Map([[new Uint8Array(4_096).fill(0xff), 1]]));
  assertThrows(() => decode(keyed(4_097), "wire"), MsgpackError, "4097 bytes");
  // A string of that length is accepted as a key, and compared completely.
  const long = "k".repeat(100_000);
  const read = decode(encode(new Map([[`${long}a`, 1], [`${long}b`, 2], ["", 3]]), "wire"), "wire");
  assertEquals(read instanceof Map ? [...read] : read, [[`${long}a`, 1], [`${long}b`, 2], ["", 3]]);
});

Deno.test("a part that is already packed is written like an unpacked one", () => {
  const part: Value = ["x", new Uint8Array([1, 2]), new Map([["y", 1.5]]), "z".repeat(2_000_000)];
  const packed = new Map<Value, Packable>([["id", 1], ["return", new Packed(encode(part, "disk"))], ["end", true]]);
  assertEquals(
    encode(packed, "disk"),
    encode(new Map<Value, Value>([["id", 1], ["return", part], ["end", true]]), "disk"),
  );
});
