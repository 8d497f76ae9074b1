import {
  compare,
  equals,
  Float,
  float,
  int,
  map,
  repr,
  str,
  toValue,
  truthy,
  typeName,
  type Value,
} from "#lib/values/value.ts";
import { dumpJson } from "#lib/values/json.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { Tuple, ValueSet } from "#lib/values/tuple.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { fromTyped, readCorpus, type Typed } from "#tests/support/typed_values.ts";

interface Described {
  value: Typed;
  repr: string;
  str: string;
  true: boolean;
}

interface Ordered {
  ordered: Typed[];
  /** By row and column: 1 if the row's value equals the column's. */
  equal: string[];
  /** 1 if the row's value is less, `-` if Python refuses the comparison. */
  less: string[];
}

const corpus = await readCorpus<Described | Ordered | { json_text: string }>("python_values.json");
const described = corpus.filter((entry) => "repr" in entry);
const [order] = corpus.filter((entry) => "ordered" in entry);
const ordered = order.ordered.map(fromTyped);
/** The same values as new objects, so that none is equal by identity. */
const again = order.ordered.map(fromTyped);

Deno.test("repr(), str() and truthy() are Python's", () => {
  for (const entry of described) {
    const value = fromTyped(entry.value);
    assertEquals(repr(value), entry.repr);
    assertEquals(str(value), entry.str);
    assertEquals(truthy(value), entry.true, entry.repr);
  }
});

Deno.test("equals() is Python's ==", () => {
  ordered.forEach((a, row) => {
    again.forEach((b, column) => {
      assertEquals(equals(a, b), order.equal[row][column] === "1", `${repr(a)} == ${repr(b)}`);
    });
  });
});

Deno.test("compare() is Python's < where Python defines it", () => {
  ordered.forEach((a, row) => {
    ordered.forEach((b, column) => {
      const less = order.less[row][column];
      // In Python every comparison with NaN is false, which gives no order for a sort.
      if (less !== "-" && !Number.isNaN(a) && !Number.isNaN(b)) {
        assertEquals(compare(a, b) < 0, less === "1", `${repr(a)} < ${repr(b)}`);
      }
    });
  });
});

Deno.test("compare() is a total order", () => {
  for (const a of ordered) {
    for (const b of ordered) {
      assertEquals(Math.sign(compare(a, b)), -Math.sign(compare(b, a)) + 0, `${repr(a)} and ${repr(b)}`);
      for (const c of ordered) {
        if (compare(a, b) <= 0 && compare(b, c) <= 0) {
          assert(compare(a, c) <= 0, `${repr(a)}, ${repr(b)}, ${repr(c)}`);
        }
      }
    }
  }
});

Deno.test("compare() orders values of different types as pprint does", () => {
  const values: Value[] = ["x", ["x"], 1, Uint8Array.of(1), null, map({}), 0.5];
  assertEquals(values.sort(compare), [null, Uint8Array.of(1), map({}), 0.5, 1, ["x"], "x"]);
});

Deno.test("int() and float() choose the canonical form of a number", () => {
  assertEquals(int(2n ** 53n - 1n), 2 ** 53 - 1);
  assertEquals(int(2n ** 53n), 2n ** 53n);
  assertEquals(int(-(2n ** 53n)), -(2n ** 53n));
  assertEquals(float(1), new Float(1));
  assertEquals(float(1.5), 1.5);
  assertEquals(float(Infinity), Infinity);
});

Deno.test("toValue() converts plain objects to values, and keeps values", () => {
  const plain = {
    a: undefined,
    b: [1n, 2n ** 60n],
    c: new Set(["x"]),
    d: new Map([[1, { e: null }]]),
    f: 2 ** 60,
    g: -0,
  };
  const expected = new Map<Value, Value>([
    ["a", null],
    ["b", [1, 2n ** 60n]],
    ["c", ["x"]],
    ["d", new Map([[1, new Map([["e", null]])]])],
    ["f", new Float(2 ** 60)],
    ["g", new Float(-0)],
  ]);
  assertEquals(toValue(plain), expected);
  assert(toValue(expected) === expected, "a value is not copied");
  assertEquals(toValue(new Array(2)), [null, null]);
  assertEquals(map({ a: [] }), new Map([["a", []]]));
});

Deno.test("toValue() converts objects that are only partly values", () => {
  const half = new Float(0.5), bytes = new Uint8Array([1]);
  assertEquals(toValue({ half, bytes, none: undefined }), map({ half, bytes, none: null }));
  assertEquals(toValue(new Map<unknown, unknown>([["a", [1]], ["b", { c: 1 }]])), map({ a: [1], b: map({ c: 1 }) }));
  assertEquals(toValue(new Map<unknown, unknown>([["a", undefined]])), map({ a: null }));
  assertEquals(
    toValue(new Map<unknown, unknown>([[undefined, 1], [{ a: 1 }, 2]])),
    new Map<Value, Value>([[null, 1], [map({ a: 1 }), 2]]),
  );
});

Deno.test("toValue() refuses cyclic values, and values that are no data", () => {
  const cycle: unknown[] = [];
  cycle.push([cycle]);
  for (const plain of [cycle, () => 1, Symbol("x")]) assertThrows(() => toValue(plain), TypeError);
  const twice = [1];
  assertEquals(toValue([twice, twice]), [[1], [1]]);
});

Deno.test("a tuple differs from a list in text, type, order and equality, as in Python, and is a list in JSON", () => {
  const pair = new Tuple<Value>([1, "a"]);
  assertEquals([new Tuple([]), new Tuple([1]), pair].map(repr), ["()", "(1,)", "(1, 'a')"]);
  assertEquals([typeName(pair), typeName([...pair])], ["tuple", "list"]);
  assertEquals([equals(pair, new Tuple<Value>([1.0, "a"])), equals(pair, [1, "a"]), equals([1, "a"], pair)], [
    true,
    false,
    false,
  ]);
  assertEquals([new Tuple([2]), new Tuple([1, 3]), [5]].sort(compare).map(repr), ["[5]", "(1, 3)", "(2,)"]);
  assertEquals([truthy(pair), truthy(new Tuple([]))], [true, false]);
  assertEquals(dumpJson(map({ t: pair })), '{"t": [1, "a"]}');
  assertEquals(repr(decode(encode(map({ t: pair }), "wire"), "wire")), "{'t': [1, 'a']}");
  assertEquals(repr(toValue({ t: new Tuple([undefined, new Set([1])]) })), "{'t': (None, [1])}");
  // What JavaScript makes of one is a list.
  assertEquals([pair.map((item) => item), pair.slice(1), pair.filter(() => true)].map(repr), [
    "[1, 'a']",
    "['a']",
    "[1, 'a']",
  ]);
});

Deno.test("sets are equal in any order, and no list equals one", () => {
  const set = new ValueSet<Value>([1, "a", null]), other = new ValueSet<Value>(["a", null, 1.0]);
  assertEquals([equals(set, other), equals(set, new ValueSet<Value>([1, "a", "b"]))], [true, false]);
  assertEquals([equals(set, [1, "a", null]), equals(new ValueSet<Value>(), new ValueSet<Value>())], [false, true]);
});
