import { MsgpackError } from "#lib/errors.ts";
import { encode } from "#lib/values/msgpack.ts";
import { EntryReader } from "#lib/values/msgpack_entry.ts";
import { equals, float, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";

/** Values of every code of MessagePack. */
const VALUES: readonly Value[] = [
  ...[null, true, false, 0, -1, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32, -33, -129, -32_769, -(2 ** 31) - 1],
  ...[2n ** 63n, -(2n ** 63n), 1.5, float(1), "", "é", "x".repeat(40), "x".repeat(300), "x".repeat(70_000)],
  ...[new Uint8Array(3), new Uint8Array(300), new Uint8Array(70_000), [], [1, [2, [3]]], Array(20).fill("x")],
  ...[Array(70_000).fill(1), new Map(), map({ a: { b: [1, { c: null }] } })],
  new Map(Array.from({ length: 20 }, (_, i): [Value, Value] => [`${i}`, i])),
  new Map(Array.from({ length: 70_000 }, (_, i): [Value, Value] => [`${i}`, i])),
];

Deno.test("an entry is found after values of every kind, in both dialects", () => {
  const entries = new EntryReader();
  for (const dialect of ["disk", "wire"] as const) {
    for (const value of VALUES) {
      for (const key of ["k", "ключ", "y".repeat(40), "y".repeat(400)]) {
        const bytes = encode(new Map<Value, Value>([[1, value], ["a", value], [key, "found"], ["z", value]]), dialect);
        entries.open(bytes);
        assertEquals([entries.get(key), entries.get("nope"), entries.get("1")], ["found", undefined, undefined]);
      }
    }
  }
});

Deno.test("each entry of a large map is found unchanged", () => {
  const values: ValueMap = new Map(VALUES.map((value, i): [Value, Value] => [`key ${i}`, value]));
  const entries = new EntryReader();
  entries.open(encode(values, "disk"));
  for (const [key, value] of values) {
    const record = entries.get(String(key));
    assert(record !== undefined && equals(record, value), String(key));
  }
});

Deno.test("truncated data, or data that are no map, are an error without delay", () => {
  const bytes = encode(map({ a: [1, { b: "text" }], c: 1.5, d: "x".repeat(300) }), "disk");
  const find = (bytes: Uint8Array) => {
    const entries = new EntryReader();
    entries.open(bytes);
    return entries.get("e");
  };
  assertEquals(find(bytes), undefined);
  for (let length = 0; length < bytes.length; length++) {
    assertThrows(() => find(bytes.subarray(0, length)), MsgpackError);
  }
  const hostile = [[0x93, 1, 2, 3], [0xdf, 0xff, 0xff, 0xff, 0xff], [0x81, 0xdd, 0xff, 0xff, 0xff, 0xff], [0xc0]];
  for (const codes of hostile) assertThrows(() => find(new Uint8Array(codes)), MsgpackError);
});

Deno.test("an entry is found after extensions of every length", () => {
  // {"a": <extension>, "k": 1}
  const extensions = [[0xd4, 5, 1], [0xd6, 5, 1, 2, 3, 4], [0xc7, 3, 5, 1, 2, 3], [0xc8, 0, 2, 5, 1, 2], [
    0xc9,
    0,
    0,
    0,
    1,
    5,
    1,
  ]];
  const entries = new EntryReader();
  for (const extension of extensions) {
    entries.open(Uint8Array.of(0x82, 0xa1, 0x61, ...extension, 0xa1, 0x6b, 1));
    assertEquals(entries.get("k"), 1, String(extension));
  }
});
