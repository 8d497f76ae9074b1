/**
 * `loadYaml` against what Salt's loader made of the same documents (tests/corpus/yaml.json), and its own bounds.
 *
 * The corpus: `M` a map as [key, value] pairs, `L` a list, `S` a set, `RECUR` the map itself, `s:` str, `i:` int,
 * `f:` float, `b:` bool, `y:` bytes; or `err` with the line of Salt's complaint. Made with Salt 3008's
 * `salt.utils.yaml.safe_load`.
 * @module
 */

import { assert, assertEquals, assertThrows } from "./assert.ts";
import { YamlError } from "../lib/errors.ts";
import { Float, isFloat, type Value } from "../lib/value.ts";
import { loadYaml, loadYamlMapping } from "../lib/yaml.ts";
import { resolvePlainScalar } from "../lib/yaml_scalar.ts";
import corpus from "./corpus/yaml.json" with { type: "json" };

type Encoded = string | Encoded[];

/** `value` as the corpus writes it. `isSet` says that a list stands where the corpus has a set. */
function encode(value: Value, parents: Value[] = []): Encoded {
  if (parents.includes(value) && typeof value === "object" && value !== null) return "RECUR";
  const inner = [...parents, value];
  if (value instanceof Map) {
    return ["M", ...[...value].map(([key, item]) => [encode(key, inner), encode(item, inner)])];
  }
  if (Array.isArray(value)) return ["L", ...value.map((item) => encode(item, inner))];
  if (value === null) return "null";
  if (typeof value === "string") return `s:${value}`;
  if (typeof value === "boolean") return `b:${value ? "True" : "False"}`;
  if (value instanceof Uint8Array) return `y:${new TextDecoder().decode(value)}`;
  if (isFloat(value)) return `f:${value instanceof Float ? value.value : value}`;
  return `i:${value}`;
}

for (const { name, yaml, ok, line } of corpus) {
  if (ok !== undefined) {
    Deno.test(`loadYaml() reads as Salt does: ${name}`, () => {
      // A set of Python's is a list here.
      const expected = JSON.parse(JSON.stringify(ok).replaceAll('["S"', '["L"'));
      assertEquals(encode(loadYaml(yaml)), expected);
    });
  } else {
    Deno.test(`loadYaml() refuses as Salt does, on line ${line}: ${name}`, () => {
      assertEquals(assertThrows(() => loadYaml(yaml), YamlError).line, line);
    });
  }
}
