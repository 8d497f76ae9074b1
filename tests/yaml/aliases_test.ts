/**
 * Aliases: what they stand for is counted as often as they occur, whoever reads the text.
 * @module
 */

import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { YamlError } from "#lib/errors.ts";
import type { Value } from "#lib/values/value.ts";
import { fromWireArgs, parseCliArgs } from "#lib/yaml/arguments.ts";
import { loadYaml, loadYamlMapping, loadYamlPlaces } from "#lib/yaml/load.ts";
import { loadYamlex } from "#lib/yaml/yamlex.ts";

/** A list of `levels` lists, each of which names the one before it nine times: 9 ** `levels` texts. */
function nested(levels: number): string {
  const lists = Array.from({ length: levels }, (_, i) => {
    const items = Array.from({ length: 9 }, () => i === 0 ? "x" : `*a${i - 1}`);
    return `&a${i} [${items.join(",")}]`;
  });
  return `[${lists.join(", ")}]`;
}

/** The number of values in a tree. */
function count(value: Value): number {
  return Array.isArray(value) ? value.reduce<number>((sum, item) => sum + count(item), 1) : 1;
}

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  loadYaml,
  loadYamlPlaces: (text) => loadYamlPlaces(text, "<string>"),
  loadYamlMapping: (text) => loadYamlMapping(`key: ${text}`, "<string>"),
  loadYamlex: (text) => loadYamlex(text, "<string>"),
};

for (const [name, read] of Object.entries(READERS)) {
  Deno.test(`${name}() refuses aliases that stand for more than a million values, and says why`, () => {
    const error = assertThrows(() => read(nested(10)), YamlError, "the aliases stand for more than 1000000 values");
    assertEquals(error.line, 1);
    read(nested(6));
  });
}

Deno.test("merge keys, keys and long texts behind aliases are counted too", () => {
  const maps = Array.from({ length: 10 }, (_, i) => {
    const items = Array.from({ length: 9 }, (_, k) => i === 0 ? `k${k}: x` : `k${k}: {<<: *m${i - 1}}`);
    return `m${i}: &m${i} {${items.join(", ")}}`;
  });
  assertThrows(() => loadYaml(maps.join("\n")), YamlError, "values");
  const long = `a: &t ${"x".repeat(100_000)}\nb: [${Array.from({ length: 1_000 }, () => "*t").join(", ")}]`;
  assertThrows(() => loadYaml(long), YamlError, "values");
  const keys = `- &k ${"x".repeat(1_000)}\n${"- {*k : 1}\n".repeat(100_000)}`;
  assertThrows(() => loadYaml(keys), YamlError, "values");
});

Deno.test("a document without aliases may be larger, and one with aliases is counted exactly", () => {
  const list = `[${Array.from({ length: 1_100_000 }, () => "1").join(",")}]`;
  assertEquals(count(loadYaml(`- ${list}\n- &a 1`)), 1_100_003);
  const thousand = `- &a [${Array.from({ length: 999 }, () => "1").join(",")}]\n`;
  const value = loadYaml(thousand + "- *a\n".repeat(1_000));
  assertEquals(count(value), 1_001_001);
  assertThrows(() => loadYaml(thousand + "- *a\n".repeat(1_001)), YamlError, "values");
});

Deno.test("an argument whose aliases stand for more than 100,000 values stays text", () => {
  for (const word of [nested(10), nested(6)]) {
    assertEquals(fromWireArgs([`text=${word}`]).kwargs.get("text"), word);
    assertEquals(parseCliArgs([word]).args, [word]);
  }
  assert(Array.isArray(fromWireArgs([`text=${nested(4)}`]).kwargs.get("text")));
});
