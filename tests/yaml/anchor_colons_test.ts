/**
 * Names of anchors and aliases that a colon ends, as libyaml reads them: the anchor is that of an empty key.
 * The values are those of `yaml.load(text, Loader=yaml.CSafeLoader)` of PyYAML 6 with libyaml.
 * @module
 */

import { YamlError } from "#lib/errors.ts";
import { repr } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { cpuMs } from "#tests/support/time.ts";

const READ: readonly (readonly [text: string, value: string])[] = [
  ["&colorcolumn: x\n", "{None: 'x'}"],
  ["a: 1\n&b: 2\n", "{'a': 1, None: 2}"],
  ["[&a: x]\n", "[{None: 'x'}]"],
  ["{&a: 1}\n", "{None: 1}"],
  ["a: &x 1\n*x: 2\n", "{'a': 1, 1: 2}"],
  ["k:\n  &a: x\n  b: 1\n", "{'k': {None: 'x', 'b': 1}}"],
  ["- &a: x\n- &b: y\n", "[{None: 'x'}, {None: 'y'}]"],
  ['k: "&a: b"\n', "{'k': '&a: b'}"],
  ["k: |\n  &a: b\nl:\n  &c: d\n", "{'k': '&a: b\\n', 'l': {None: 'd'}}"],
];

for (const [text, value] of READ) {
  Deno.test(`a colon ends the name of an anchor: ${JSON.stringify(text)}`, () => {
    assertEquals(repr(loadYaml(text)), value);
  });
}

Deno.test("a colon behind an anchor in the place of a value is refused, and places are those of the text", () => {
  for (const text of ["k: &a: c\n", "a: &x: y\n", "&a: &b: c\n", "l: &c: d\n"]) {
    assertThrows(() => loadYaml(text), YamlError);
  }
  const error = assertThrows(() => loadYaml("- &a: {x: 1, y: *nope}\n"), YamlError);
  assertEquals([error.line, error.column], [1, 17]);
});

Deno.test("many such anchors take little time, and beyond a hundred are refused", () => {
  const tookMs = cpuMs(() => void assertThrows(() => loadYaml("a: 1\n&b: 2\n".repeat(300)), YamlError));
  assert(tookMs < 2_000, `${tookMs} ms`);
});
