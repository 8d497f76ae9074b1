/**
 * `dumpYaml`, compared with the bytes of Salt's `--out=yaml`.
 *
 * tests/corpus/yaml_dump.json was made with `salt.utils.yaml.safe_dump(value, default_flow_style=False)` of Salt 3008
 * (PyYAML 6.0.3 over libyaml 0.2.5), from hand-written and random values, in the notation of load_test.ts.
 * @module
 */

import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { float, int, type Value } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { dumpYaml } from "#lib/yaml/dump.ts";
import corpus from "#tests/corpus/yaml_dump.json" with { type: "json" };

function decode(encoded: unknown): Value {
  if (Array.isArray(encoded)) {
    const [kind, ...items] = encoded;
    if (kind === "L") return items.map(decode);
    return new Map(items.map(([key, item]) => [decode(key), decode(item)]));
  }
  assert(typeof encoded === "string");
  if (encoded === "null") return null;
  const text = encoded.slice(2);
  switch (encoded[0]) {
    case "b":
      return text === "True";
    case "s":
      return text;
    case "y":
      return Uint8Array.from(text, (char) => char.charCodeAt(0));
    case "f":
      return float(Number(text.replace("inf", "Infinity")));
    default:
      return int(BigInt(text));
  }
}

Deno.test("dumpYaml() writes every value of the corpus as Salt does", () => {
  for (const { value, yaml } of corpus) assertEquals(dumpYaml(decode(value)), yaml, JSON.stringify(value));
  assert(corpus.length > 350);
});

/**
 * Whether the loader cannot read `value` back: a key that is a list, a line break of YAML 1.1 only (see
 * lib/yaml/load.ts).
 */
function isOneWay(value: Value): boolean {
  if (typeof value === "string") return /[\x85\u2028\u2029]/.test(value);
  if (Array.isArray(value)) return value.some(isOneWay);
  return value instanceof Map &&
    [...value].some(([key, item]) => Array.isArray(key) || isOneWay(key) || isOneWay(item));
}

Deno.test("dumpYaml() writes an empty map, list or byte string as a simple key", () => {
  assertEquals(dumpYaml(new Map<Value, Value>([[new Map(), 1]])), "{}: 1\n");
  assertEquals(dumpYaml(new Map<Value, Value>([[[], 1]])), "[]: 1\n");
  assertEquals(dumpYaml(new Map<Value, Value>([[new Map([["a", 1]]), 1]])), "? a: 1\n: 1\n");
});

Deno.test("loadYaml() reads back what dumpYaml() wrote", () => {
  const both = corpus.filter(({ value }) => !isOneWay(decode(value)));
  for (const { yaml } of both) assertEquals(dumpYaml(loadYaml(yaml)), yaml);
  assert(both.length > 300);
});

Deno.test("dumpYaml() refuses a structure that contains itself, and writes a repeated object twice", () => {
  const list: Value[] = [];
  list.push(list);
  assertThrows(() => dumpYaml(list), TypeError, "contains itself");
  const shared: Value[] = [1];
  assertEquals(dumpYaml([shared, shared]), "- - 1\n- - 1\n");
});

Deno.test("dumpYaml() in ASCII writes a no-break space as Python does", () => {
  assertEquals(dumpYaml("a\u00a0b", { ascii: true }).trimEnd(), '"a\\_b"');
});
