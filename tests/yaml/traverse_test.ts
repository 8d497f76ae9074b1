import { map, type Value } from "#lib/values/value.ts";
import { ValueSet } from "#lib/values/tuple.ts";
import { traverse, traverseOr } from "#lib/yaml/traverse.ts";
import { assertEquals } from "#tests/support/assert.ts";

const DATA = map({ pkg: { apache: ["a", { port: 80 }, { "1": "one" }] }, none: null }).set(5, "five").set(
  "set",
  new ValueSet<Value>(["a", "b"]),
);

const CASES: readonly (readonly [path: Value, found: unknown])[] = [
  ["pkg:apache:0", "a"],
  ["pkg:apache:-1", map({ "1": "one" })],
  ["pkg:apache:port", 80],
  ["pkg:apache:9", undefined],
  ["pkg:apache:x", undefined],
  ["pkg:apache:0:a", undefined],
  [["pkg", "apache", 0], "a"],
  ["5", "five"],
  ["none", null],
  ["none:x", undefined],
  // A set has neither an order nor keys.
  ["set:0", undefined],
  ["set:a", undefined],
];

for (const [path, found] of CASES) {
  Deno.test(`the value at ${JSON.stringify(path)}${found === undefined ? " is not there" : ""}`, () => {
    assertEquals(traverse(DATA, path), found);
    assertEquals(traverseOr(DATA, path, { delimiter: ":", fallback: "else" }), found === undefined ? "else" : found);
  });
}
