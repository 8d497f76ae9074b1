import { pformat } from "#lib/values/pformat.ts";
import { Tuple } from "#lib/values/tuple.ts";
import type { Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { fromTyped, readCorpus, type Typed } from "#tests/support/typed_values.ts";

interface Case {
  value: Typed;
  /** The expected text, by width, or by width and indentation with a comma between them. */
  pformat: Record<string, string>;
}

const cases = (await readCorpus<Case | { repr: string }>("python_values.json")).filter((entry) => "pformat" in entry);

for (const layout of ["80", "40", "80,4"]) {
  Deno.test(`pformat() writes as Python does: ${layout}`, () => {
    const [width, indent] = layout.split(",").map(Number);
    for (const entry of cases) {
      assertEquals(pformat(fromTyped(entry.value), width, { indent }), entry.pformat[layout]);
    }
  });
}

Deno.test("pformat() wraps to 80 characters by default", () => {
  assertEquals(pformat(["x".repeat(40), "y".repeat(40)]), `['${"x".repeat(40)}',\n '${"y".repeat(40)}']`);
  assertEquals(pformat(["x".repeat(40), "y".repeat(30)]), `['${"x".repeat(40)}', '${"y".repeat(30)}']`);
});

Deno.test("pformat() wraps tuples as Python does", () => {
  const cases: readonly (readonly [Value, string])[] = [
    [new Tuple([]), "()"],
    [new Tuple(["x".repeat(90)]), `('${"x".repeat(90)}',)`],
    [new Tuple(["x ".repeat(50)]), `('${"x ".repeat(38)}'\n '${"x ".repeat(12)}',)`],
    [
      [new Tuple([1, 2]), new Tuple(["a".repeat(40), "b".repeat(40)])],
      `[(1, 2),\n ('${"a".repeat(40)}',\n  '${"b".repeat(40)}')]`,
    ],
    [
      new Map([["k", new Tuple(["v".repeat(50), "w".repeat(40)])]]),
      `{'k': ('${"v".repeat(50)}',\n       '${"w".repeat(40)}')}`,
    ],
  ];
  for (const [value, expected] of cases) assertEquals(pformat(value), expected);
});
